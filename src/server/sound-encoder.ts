/** Sound in the forms that clients ask for, as it is made. */
import { encodePcm, encodeWavHeader } from '../audio/encode-wav.ts'
import { Resampler } from '../audio/resampler.ts'
import type { SpokenPiece } from '../speech/types.ts'

export const SOUND_FORMATS = ['wav', 'pcm'] as const

export type SoundFormat = (typeof SOUND_FORMATS)[number]

/** Of `pcm`, as clients expect it. */
const PCM_RATE = 24_000

/** 16 bits, mono. `wav` keeps the rate of the voice; its header does not know its length. */
export async function* encodeSound(
  pieces: AsyncIterable<SpokenPiece>,
  format: SoundFormat,
  sampleRate: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (format === 'wav') {
    const header = encodeWavHeader(sampleRate, 's16le', undefined)
    let hasHeader = false
    for await (const { samples } of pieces) {
      // Not before there is something to say, as a failure has a status only until the first byte.
      if (!hasHeader) yield header
      hasHeader = true
      yield encodePcm(samples, 's16le')
    }
    if (!hasHeader) yield header
    return
  }
  // One for all pieces: their borders lie within words.
  const resampler = new Resampler(sampleRate, PCM_RATE)
  for await (const { samples } of pieces) yield encodePcm(resampler.push(samples), 's16le')
  yield encodePcm(resampler.finish(), 's16le')
}
