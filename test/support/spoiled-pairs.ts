/** Ways to spoil a GGUF text model with its projector, each with the finding that names it. */
import type { FindingCode } from '../../src/inspect/finding.ts'
import { encodeModel, type GgufModel, matricesAs } from './gguf-from-checkpoint.ts'
import { ggufPair, normal, uniform } from './spoil-model.ts'
import type { FileContents } from './temporary-folders.ts'

export interface GgufSpoil {
  readonly name: string
  readonly code: FindingCode
  readonly also?: readonly FindingCode[]
  readonly folder?: string
  readonly fileName?: string
  /** From the sound model's Hugging Face folder. */
  readonly spoil: (folder: string) => Record<string, FileContents>
}

export const SPOILED_PAIRS: readonly GgufSpoil[] = [
  {
    name: 'a projector of random numbers in Q4_0',
    code: 'weights/untrained-projector',
    spoil: (folder) => {
      let projector: Uint8Array = new Uint8Array()
      const files = ggufPair(folder, (_, model) => {
        replace(model, 'mm.model.fc.weight', normal(0.03))
        projector = encodeModel(model, matricesAs('Q4_0'))
      })
      return { ...files, 'mmproj-model-q8_0.gguf': projector }
    },
  },
  {
    name: 'an untrained tower in a mmproj file',
    code: 'weights/untrained-vision',
    spoil: (folder) =>
      ggufPair(folder, (_, model) => {
        const fill = uniform(0.1)
        for (const name of model.tensors.keys())
          if (/^v\.(blk.*|patch_embd)\.weight$/.test(name) && !name.includes('ln')) replace(model, name, fill)
      }),
  },
  {
    name: 'a mmproj file of another width',
    code: 'model/projector-mismatch',
    spoil: (folder) =>
      ggufPair(folder, (_, model) => {
        const { data } = model.tensors.get('mm.model.fc.weight')!
        model.tensors.set('mm.model.fc.weight', {
          shape: [320, 768],
          data: doubled(data).slice(0, 320 * 768),
        })
      }),
  },
  {
    name: 'a text model without image tokens beside a projector',
    code: 'text/no-image-token',
    spoil: (folder) =>
      ggufPair(folder, (text) => {
        const tokens = text.metadata.get('tokenizer.ggml.tokens')!
        const renamed = (tokens.value as string[]).map((token) => (token === '<image>' ? '<other>' : token))
        text.metadata.set('tokenizer.ggml.tokens', { ...tokens, value: renamed })
      }),
  },
  {
    name: 'blocks with impossible scales',
    code: 'weights/bad-block-scale',
    also: ['weights/not-finite', 'weights/absurd-values'],
    spoil: (folder) => {
      const files = ggufPair(folder)
      const file = files['model-q8_0.gguf']
      // Infinity as the scale of a block in the middle of the data: blocks of 34 bytes begin with their scale.
      const at = findBlock(file)
      file[at] = 0
      file[at + 1] = 0x7c
      return files
    },
  },
  {
    name: 'a text model that was cut',
    code: 'format/truncated',
    spoil: (folder) => {
      const files = ggufPair(folder)
      return { ...files, 'model-q8_0.gguf': files['model-q8_0.gguf'].slice(0, -200_000) }
    },
  },
  {
    name: 'a text file called .gguf',
    code: 'file/wrong-kind',
    fileName: 'model.gguf',
    spoil: () => ({ 'model.gguf': 'This is no model.' }),
  },
  {
    name: 'a text half whose projector is missing',
    code: 'model/no-projector',
    folder: 'SmolVLM',
    spoil: (folder) => ({ 'model-q8_0.gguf': ggufPair(folder)['model-q8_0.gguf'] }),
  },
  {
    name: 'a projector alone',
    code: 'model/projector-alone',
    spoil: (folder) => ({ 'mmproj-model-q8_0.gguf': ggufPair(folder)['mmproj-model-q8_0.gguf'] }),
  },
  {
    name: 'several models in one folder',
    code: 'file/several-models',
    spoil: (folder) => {
      const { 'model-q8_0.gguf': text } = ggufPair(folder)
      return { 'a.gguf': text, 'b.gguf': text }
    },
  },
  {
    name: 'a name inside the file that claims another size',
    code: 'name/claims-size',
    spoil: (folder) =>
      ggufPair(folder, (text) => {
        text.metadata.set('general.size_label', { type: 'string', value: '2.2B' })
      }),
  },
  {
    name: 'no tokenizer in the file',
    code: 'file/no-tokenizer',
    spoil: (folder) =>
      ggufPair(folder, (text) => {
        for (const key of [...text.metadata.keys()])
          if (key.startsWith('tokenizer.ggml')) text.metadata.delete(key)
      }),
  },
  {
    name: 'no token that ends an answer',
    code: 'text/no-stop-token',
    also: ['text/missing-special-token'],
    spoil: (folder) =>
      ggufPair(folder, (text) => {
        const tokens = text.metadata.get('tokenizer.ggml.tokens')!
        const renamed = (tokens.value as string[]).map((token) =>
          /end_of_utterance|endoftext|im_end/.test(token) ? `<other ${token.length}>` : token,
        )
        text.metadata.set('tokenizer.ggml.tokens', { ...tokens, value: renamed })
        text.metadata.delete('tokenizer.ggml.eos_token_id')
      }),
  },
  {
    name: 'a missing key',
    code: 'config/bad-field',
    spoil: (folder) =>
      ggufPair(folder, (text) => {
        text.metadata.delete('llama.attention.head_count')
      }),
  },
]

function replace(model: GgufModel, name: string, value: (data: Float32Array) => Float32Array): void {
  const { shape, data } = model.tensors.get(name)!
  model.tensors.set(name, { shape, data: value(data) })
}

function doubled(data: Float32Array): Float32Array {
  const out = new Float32Array(2 * data.length)
  out.set(data)
  out.set(data, data.length)
  return out
}

/** Byte of a block's scale inside the largest stretch of Q8_0 data: the last tensor's first block is 32-byte aligned. */
function findBlock(file: Uint8Array): number {
  const middle = Math.floor(file.byteLength / 2)
  // The embedding is the first and largest tensor; its blocks go on evenly from its start.
  for (let start = 0; start < 34; start++) {
    const at = middle + start
    const looksLikeScale = Array.from({ length: 20 }, (_, block) => file[at + 34 * block + 1]!).every(
      (high) => high >= 0x08 && high < 0x28,
    )
    if (looksLikeScale) return at
  }
  throw new Error('no block found')
}
