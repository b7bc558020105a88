/** Names of Moonshine's tensors: Hugging Face's, with the two halves of the decoder's gated layer apart. */
import type { TensorInfo } from '../../formats/tensor-info.ts'

const GATED = /^decoder\.layers\.\d+\.mlp\.fc1\.(weight|bias)$/

/** Tensors by the engine's names. */
export function nameMoonshineTensors(tensors: ReadonlyMap<string, TensorInfo>): Map<string, TensorInfo> {
  const named = new Map<string, TensorInfo>()
  for (const [name, info] of tensors) {
    const local = name.replace(/^model\./, '')
    const [rows = 0, ...rest] = info.shape
    if (!GATED.test(local) || rows % 2 !== 0) {
      named.set(local, info)
      continue
    }
    // First what passes, then the gate.
    const half = { ...info, shape: [rows / 2, ...rest], byteLength: info.byteLength / 2 }
    named.set(local.replace('fc1', 'value'), half)
    named.set(local.replace('fc1', 'gate'), { ...half, byteOffset: info.byteOffset + half.byteLength })
  }
  return named
}
