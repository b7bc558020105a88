/** From symbols to what is said, and how: a transformer that knows distances instead of positions. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS } from '../../backend/ops.ts'
import type { VitsConfig } from './config.ts'
import { type Convolution, convolve, type Scratch } from './convolution.ts'
import type { WeightSource } from './weight-source.ts'

interface Layer {
  readonly q: Convolution
  readonly k: Convolution
  readonly v: Convolution
  readonly o: Convolution
  readonly relativeKeys: DeviceBuffer // f32 (2 * reach + 1, headDim)
  readonly relativeValues: DeviceBuffer
  readonly norm1: { readonly weight: DeviceBuffer; readonly bias: DeviceBuffer }
  readonly conv1: Convolution
  readonly conv2: Convolution
  readonly norm2: { readonly weight: DeviceBuffer; readonly bias: DeviceBuffer }
}

export interface TextEncoderWeights {
  readonly embedding: DeviceBuffer // packed F32 (symbols, dim), scaled by the root of dim
  readonly layers: readonly Layer[]
  readonly projection: Convolution // to means and log deviations
}

export async function loadTextEncoder(
  source: WeightSource,
  { symbols, dim, layers, heads, reach, hiddenDim, hiddenKernel, flow }: VitsConfig,
): Promise<TextEncoderWeights> {
  const scale = Math.sqrt(dim)
  const embedding = (await source.floats('enc_p.emb.weight', symbols, dim)).map((value) => value * scale)
  const loadNorm = async (name: string) => ({
    weight: await source.vector(`${name}.gamma`, dim),
    bias: await source.vector(`${name}.beta`, dim),
  })
  const loaded: Layer[] = []
  for (let index = 0; index < layers; index++) {
    const attention = `enc_p.encoder.attn_layers.${index}`
    const feedForward = `enc_p.encoder.ffn_layers.${index}`
    const square = { inputs: dim, outputs: dim }
    const distances = [2 * reach + 1, dim / heads] as const
    loaded.push({
      q: await source.convolution(`${attention}.conv_q`, square),
      k: await source.convolution(`${attention}.conv_k`, square),
      v: await source.convolution(`${attention}.conv_v`, square),
      o: await source.convolution(`${attention}.conv_o`, square),
      relativeKeys: source.put(await source.floats(`${attention}.emb_rel_k`, ...distances)),
      relativeValues: source.put(await source.floats(`${attention}.emb_rel_v`, ...distances)),
      norm1: await loadNorm(`enc_p.encoder.norm_layers_1.${index}`),
      conv1: await source.convolution(`${feedForward}.conv_1`, {
        inputs: dim,
        outputs: hiddenDim,
        kernel: hiddenKernel,
      }),
      conv2: await source.convolution(`${feedForward}.conv_2`, {
        inputs: hiddenDim,
        outputs: dim,
        kernel: hiddenKernel,
      }),
      norm2: await loadNorm(`enc_p.encoder.norm_layers_2.${index}`),
    })
    await source.settle()
  }
  return {
    embedding: source.packFloats(embedding, symbols, dim),
    layers: loaded,
    projection: await source.convolution('enc_p.proj', { inputs: dim, outputs: 2 * flow.channels }),
  }
}

export interface EncodedText {
  readonly hidden: DeviceBuffer // f32 (symbols, dim)
  readonly statistics: DeviceBuffer // f32 (symbols, 2 * channels): means, then log deviations
}

/** Enqueues the pass. */
export function encodeText(
  backend: Backend,
  { dim, heads, reach, hiddenDim, epsilon, flow }: VitsConfig,
  weights: TextEncoderWeights,
  symbols: Int32Array,
  scratch: Scratch,
  temporary: (floats: number) => DeviceBuffer,
): EncodedText {
  const rows = symbols.length
  const ids = temporary(rows)
  const hidden = temporary(rows * dim)
  const statistics = temporary(rows * 2 * flow.channels)
  const [q, k, v, mixed] = [0, 1, 2, 3].map(() => temporary(rows * dim)) as unknown as readonly [
    BufferRef,
    BufferRef,
    BufferRef,
    BufferRef,
  ]
  const wide = temporary(rows * hiddenDim)
  backend.write(ids, new Uint8Array(symbols.buffer, symbols.byteOffset, symbols.byteLength))
  backend.enqueue('gatherRows', {
    type: 'F32',
    matrix: weights.embedding,
    ids,
    out: hidden,
    count: rows,
    columns: dim,
  })
  const headDim = dim / heads
  for (const layer of weights.layers) {
    convolve(backend, layer.q, hidden, rows, q, scratch)
    convolve(backend, layer.k, hidden, rows, k, scratch)
    convolve(backend, layer.v, hidden, rows, v, scratch)
    backend.enqueue('localAttention', {
      q,
      k,
      v,
      relativeKeys: layer.relativeKeys,
      relativeValues: layer.relativeValues,
      out: mixed,
      rows,
      heads,
      headDim,
      scale: 1 / Math.sqrt(headDim),
      left: 0,
      right: 0,
      reach,
    })
    convolve(backend, layer.o, mixed, rows, hidden, scratch, { accumulate: true })
    const normalise = ({ weight, bias }: Layer['norm1']): void =>
      backend.enqueue('layerNorm', { x: hidden, weight, bias, out: hidden, rows, columns: dim, epsilon })
    normalise(layer.norm1)
    convolve(backend, layer.conv1, hidden, rows, wide, scratch)
    backend.enqueue('activate', { x: wide, kind: ACTIVATIONS.relu, rows, columns: hiddenDim })
    convolve(backend, layer.conv2, wide, rows, hidden, scratch, { accumulate: true })
    normalise(layer.norm2)
  }
  convolve(backend, weights.projection, hidden, rows, statistics, scratch)
  return { hidden, statistics }
}
