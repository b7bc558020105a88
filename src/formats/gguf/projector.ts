/** GGUF files that turn pictures into tokens (mmproj), told by what is in them, not by their names. */
import type { GgufFile } from './load-gguf.ts'
import { optional, requireNumber } from './metadata.ts'

export function isProjector(gguf: GgufFile): boolean {
  return gguf.metadata.get('general.architecture') === 'clip'
}

/** The width that a projector ends in; undefined when the file does not say. */
export function outputWidth(projector: GgufFile): number | undefined {
  const last = projector.tensors.get('mm.2.weight') ?? projector.tensors.get('mm.model.fc.weight')
  return last?.shape[0] ?? optional(projector, 'clip.vision.projection_dim', requireNumber)
}
