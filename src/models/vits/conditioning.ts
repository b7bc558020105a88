/** Who speaks: one vector for the whole voice, so what it adds to each layer goes into that layer's bias. */
import type { WeightSource } from './weight-source.ts'

/** What a speaker adds to each channel. */
export async function conditionOf(
  source: WeightSource,
  name: string,
  channels: number,
  speaker: Float32Array,
): Promise<Float32Array<ArrayBuffer>> {
  const weight = await source.floats(`${name}.weight`, channels, speaker.length)
  const bias = await source.floats(`${name}.bias`, channels)
  return bias.map((start, row) =>
    speaker.reduce((sum, value, i) => sum + value * (weight[row * speaker.length + i] as number), start),
  )
}

export function addTo(target: Float32Array, values: Float32Array): void {
  for (const [i, value] of values.entries()) target[i] = (target[i] as number) + value
}
