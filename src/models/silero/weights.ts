import { loadSafetensors } from '../../formats/safetensors/load-safetensors.ts'
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import type { DenseLayer } from './matrix-vector.ts'

/** As scripts/convert-silero.py writes them: convolutions as (outputs, taps * inputs), taps that meet padding left out. */
export interface SileroWeights {
  readonly conv1: DenseLayer // (128, 3 * 129)
  readonly conv2: DenseLayer // (64, 3 * 128)
  readonly conv3: DenseLayer // (64, 2 * 64)
  readonly conv4: DenseLayer // (128, 64)
  /** Gates in the order input, forget, cell, output; columns: the input, then the state. */
  readonly lstm: DenseLayer // (4 * 128, 128 + 128)
  readonly head: DenseLayer // (1, 128)
}

const SHAPES: Readonly<Record<keyof SileroWeights, readonly [number, number]>> = {
  conv1: [128, 387],
  conv2: [64, 384],
  conv3: [64, 128],
  conv4: [128, 64],
  lstm: [512, 256],
  head: [1, 128],
}

/** Throws `format/…` for a damaged file and `model/missing-tensor` or `model/wrong-shape` for that of another network. */
export async function loadSileroWeights(source: ByteSource): Promise<SileroWeights> {
  const tensors = await loadSafetensors(source)
  const read = async (name: string, shape: readonly number[]): Promise<Float32Array> => {
    const tensor = tensors.get(name)
    if (!tensor) {
      throw new EngineError('model/missing-tensor', {
        message: `${source.name}: tensor "${name}" of Silero VAD is missing.`,
        hint: 'Make the file with scripts/convert-silero.py.',
      })
    }
    if (tensor.type !== 'F32' || tensor.shape.join() !== shape.join()) {
      throw new EngineError('model/wrong-shape', {
        message: `${source.name}: tensor "${name}" is ${tensor.type} [${tensor.shape.join(', ')}], expected F32 [${shape.join(', ')}].`,
        hint: 'Make the file with scripts/convert-silero.py.',
      })
    }
    const bytes = await readBytes(source, tensor.byteOffset, tensor.byteLength)
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  }
  const layers = Object.entries(SHAPES).map(async ([name, [rows, columns]]) => {
    const weight = await read(`${name}.weight`, [rows, columns])
    const bias = await read(`${name}.bias`, [rows])
    return [name, { weight, bias }] as const
  })
  return Object.fromEntries(await Promise.all(layers)) as unknown as SileroWeights
}
