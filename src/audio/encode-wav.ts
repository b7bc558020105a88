import type { AudioClip } from './audio-clip.ts'

export type WavEncoding = 's16le' | 'f32le'

const HEADER_BYTES = 44
const PCM = 1
const FLOAT = 3

/**
 * Samples as they stand in a file. `s16le` rounds to the nearest of 65536 steps and clips what is outside of -1 to 1;
 * `f32le` keeps all as it is.
 */
export function encodePcm(samples: Float32Array, encoding: WavEncoding): Uint8Array {
  const sampleBytes = bytesOf(encoding)
  const view = new DataView(new ArrayBuffer(samples.length * sampleBytes))
  for (const [i, sample] of samples.entries()) {
    if (encoding === 'f32le') view.setFloat32(i * sampleBytes, sample, true)
    else
      view.setInt16(i * sampleBytes, Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000))), true)
  }
  return new Uint8Array(view.buffer)
}

/**
 * The 44 bytes in front of `sampleCount` mono samples. Undefined: not known yet, as in a pipe; readers then take all
 * that follows.
 */
export function encodeWavHeader(
  sampleRate: number,
  encoding: WavEncoding,
  sampleCount: number | undefined,
): Uint8Array {
  const sampleBytes = bytesOf(encoding)
  const dataBytes = sampleCount === undefined ? 0xffffffff : sampleCount * sampleBytes
  const view = new DataView(new ArrayBuffer(HEADER_BYTES))
  const name = (at: number, text: string): void => {
    for (let i = 0; i < 4; i++) view.setUint8(at + i, text.charCodeAt(i))
  }
  name(0, 'RIFF')
  view.setUint32(4, Math.min(dataBytes + HEADER_BYTES - 8, 0xffffffff), true)
  name(8, 'WAVE')
  name(12, 'fmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, encoding === 'f32le' ? FLOAT : PCM, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * sampleBytes, true)
  view.setUint16(32, sampleBytes, true)
  view.setUint16(34, sampleBytes * 8, true)
  name(36, 'data')
  view.setUint32(40, dataBytes, true)
  return new Uint8Array(view.buffer)
}

/** A whole mono WAV file. Default: 16 bits. */
export function encodeWav({ samples, sampleRate }: AudioClip, encoding: WavEncoding = 's16le'): Uint8Array {
  const header = encodeWavHeader(sampleRate, encoding, samples.length)
  const data = encodePcm(samples, encoding)
  const file = new Uint8Array(header.length + data.length)
  file.set(header)
  file.set(data, header.length)
  return file
}

function bytesOf(encoding: WavEncoding): number {
  return encoding === 'f32le' ? 4 : 2
}
