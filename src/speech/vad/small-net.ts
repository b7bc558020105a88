import { loadSafetensors } from '../../formats/safetensors/load-safetensors.ts'
import { type DenseLayer, multiply, rectify, sigmoid } from '../../models/silero/matrix-vector.ts'
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { GateFeatures } from './gate-features.ts'

/*
 * The second stage of the gate: a network of our own training, 33 281 weights in 8 bits with a scale for each row. It
 * sees what is clearly no speech, so that the large network sleeps. The recipe is in scripts/train-gate.
 */

const HIDDEN = 64

export interface SmallNetWeights {
  readonly input: DenseLayer // (64, 128)
  /** Gates in the order reset, update, candidate, as PyTorch has them. */
  readonly gruInput: DenseLayer // (3 * 64, 64)
  readonly gruState: DenseLayer // (3 * 64, 64)
  readonly head: DenseLayer // (1, 64)
}

/** As scripts/train-gate/train.py writes them. */
export async function loadSmallNetWeights(source: ByteSource): Promise<SmallNetWeights> {
  const tensors = await loadSafetensors(source)
  const bytesOf = async (name: string): Promise<ArrayBuffer> => {
    const tensor = tensors.get(name)
    if (!tensor) throw new Error(`${source.name}: tensor "${name}" of the voice gate is missing.`)
    return (await readBytes(source, tensor.byteOffset, tensor.byteLength)).buffer as ArrayBuffer
  }
  const layer = async (name: string): Promise<DenseLayer> => {
    const stored = new Int8Array(await bytesOf(`${name}.weight`))
    const scale = new Float32Array(await bytesOf(`${name}.scale`))
    const columns = stored.length / scale.length
    const weight = Float32Array.from(stored, (value, i) => value * (scale[Math.floor(i / columns)] as number))
    return { weight, bias: new Float32Array(await bytesOf(`${name}.bias`)) }
  }
  const [input, gruInput, gruState, head] = await Promise.all([
    layer('input'),
    layer('gru.input'),
    layer('gru.state'),
    layer('head'),
  ])
  return { input, gruInput, gruState, head }
}

export class SmallNet {
  readonly #weights: SmallNetWeights
  readonly #features = new GateFeatures()
  readonly #input = new Float32Array(HIDDEN)
  readonly #fromInput = new Float32Array(3 * HIDDEN)
  readonly #fromState = new Float32Array(3 * HIDDEN)
  readonly #state = new Float32Array(HIDDEN)
  readonly #output = new Float32Array(1)

  constructor(weights: SmallNetWeights) {
    this.#weights = weights
  }

  /** Probability of speech, 0 to 1, in the next 512 samples of 16 kHz. */
  run(samples: Float32Array): number {
    const { input, gruInput, gruState, head } = this.#weights
    multiply(input, this.#features.step(samples), 0, this.#input, 0)
    rectify(this.#input, 0, HIDDEN)
    multiply(gruInput, this.#input, 0, this.#fromInput, 0)
    multiply(gruState, this.#state, 0, this.#fromState, 0)
    const a = this.#fromInput
    const b = this.#fromState
    for (let i = 0; i < HIDDEN; i++) {
      const reset = sigmoid((a[i] as number) + (b[i] as number))
      const update = sigmoid((a[HIDDEN + i] as number) + (b[HIDDEN + i] as number))
      const candidate = Math.tanh((a[2 * HIDDEN + i] as number) + reset * (b[2 * HIDDEN + i] as number))
      this.#state[i] = candidate + update * ((this.#state[i] as number) - candidate)
    }
    multiply(head, this.#state, 0, this.#output, 0)
    return sigmoid(this.#output[0] as number)
  }

  reset(): void {
    this.#features.reset()
    this.#state.fill(0)
  }
}
