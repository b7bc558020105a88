import { crc32 as zlibCrc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { crc32 } from './checksum.ts'

const noise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (Math.imul(at + 1, 2654435761) >>> 13) & 255)

test('the check value of the standard', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
  expect(crc32(new Uint8Array())).toBe(0)
})

test('equals zlib for every length and alignment', () => {
  const bytes = noise(100)
  for (let from = 0; from < 9; from++) {
    for (let to = from; to <= bytes.length; to++) {
      const part = bytes.subarray(from, to)
      expect(crc32(part)).toBe(zlibCrc32(part))
    }
  }
})

test('goes on from the bytes before', () => {
  const bytes = noise(1000)
  for (const cut of [0, 1, 3, 8, 500, 999, 1000])
    expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(zlibCrc32(bytes))
})

test('reads shared memory', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(64))
  shared.set(noise(64))
  expect(crc32(shared)).toBe(zlibCrc32(noise(64)))
})
