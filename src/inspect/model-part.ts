/** Which part of a model a tensor belongs to, by its name. */
import { renameDecoderTensor } from '../models/llama/weights.ts'
import { renameProjectorTensor } from '../models/projector/config.ts'
import { renameVisionTensor } from '../models/vision/weights.ts'

export const MODEL_PARTS = ['vision', 'projector', 'embedding', 'layers', 'head', 'other'] as const

export type ModelPart = (typeof MODEL_PARTS)[number]

/** The engine's name of a tensor; undefined for one that no supported family has. */
export function engineName(name: string): string | undefined {
  return renameProjectorTensor(name) ?? renameVisionTensor(name) ?? renameDecoderTensor(name)
}

/** Families that the engine does not know are sorted by what their tensors are usually called. */
export function partOf(name: string): ModelPart {
  const known = engineName(name) ?? name
  if (known.startsWith('mm.') || /projector|connector|merger|resampler/.test(known)) return 'projector'
  if (/^v\.|vision|visual/.test(known)) return 'vision'
  if (/^token_embd\.|embed_tokens|\bwte\b/.test(known)) return 'embedding'
  if (/^output|lm_head/.test(known)) return 'head'
  if (/^blk\.|\b(layers|h|blocks)\.\d+\./.test(known)) return 'layers'
  return 'other'
}

/** What a tensor does in its layer (`attn_q.weight`), and which layer that is. */
export function roleOf(name: string): { role: string; layer: number | undefined } {
  const known = engineName(name) ?? name
  const match = /^(?:v\.)?blk\.(\d+)\.(.+)$/.exec(known) ?? /\.(\d+)\.(.+)$/.exec(known)
  return match ? { role: match[2] ?? known, layer: Number(match[1]) } : { role: known, layer: undefined }
}
