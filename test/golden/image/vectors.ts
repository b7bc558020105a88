import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** What make_image_vectors.py recorded; see there for the meaning of each field. */
export interface ImageVectors {
  resizes: {
    filter: string
    from: [number, number]
    to: [number, number]
    base64?: string
    sha256?: string
  }[]
  idefics3: {
    size: [number, number]
    longestEdge: number
    tileEdge: number
    split: boolean
    frames: number
    rows: number
    cols: number
    sha256: string
  }[]
  clip: {
    size: [number, number]
    config: Record<string, unknown>
    width: number
    height: number
    sha256: string
  }[]
  normalizations: { config: Record<string, unknown>; base64: string }[]
  pictures: Record<string, { width: number; height: number; sha256: string }>
}

export const vectors = JSON.parse(
  readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'),
) as ImageVectors

export function readPicture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`./pictures/${name}`, import.meta.url)))
}

/** The synthetic picture of make_image_vectors.py, (height, width, 3). */
export function noise(width: number, height: number): Uint8Array {
  return Uint8Array.from({ length: width * height * 3 }, (_, i) => Math.imul(i, 2654435761) >>> 24)
}

export function sha256(parts: readonly (Uint8Array | Uint8ClampedArray)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
