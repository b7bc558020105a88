import { readFileSync } from 'node:fs'
import { parseWav } from '../../../src/audio/wav-decoder.ts'

const fileUrl = (name: string): URL => new URL(name, import.meta.url)

/** Samples of 16 kHz of a clip beside this file. */
export function readClip(name: string): Float32Array {
  return parseWav(new Uint8Array(readFileSync(fileUrl(`${name}.wav`))), name).samples
}

export function readVectors<T>(fileName: string): T {
  return JSON.parse(readFileSync(fileUrl(fileName), 'utf8')) as T
}

/** As in make_mel_vectors.py. */
export function formulaNoise(count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => (Math.imul(i, 2654435761) >> 16) / 65536)
}
