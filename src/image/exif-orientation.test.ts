import { describe, expect, it } from 'vitest'
import { parseExifOrientation } from './exif-orientation.ts'

/** A block of one directory with a resolution entry and, behind it, the orientation. */
function block(isLittle: boolean, orientation: number, { type = 3, magic = 42 } = {}): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 + 2 + 2 * 12 + 4))
  view.setUint16(0, isLittle ? 0x4949 : 0x4d4d)
  view.setUint16(2, magic, isLittle)
  view.setUint32(4, 8, isLittle)
  view.setUint16(8, 2, isLittle)
  view.setUint16(10, 0x011a, isLittle)
  view.setUint16(22, 0x0112, isLittle)
  view.setUint16(24, type, isLittle)
  view.setUint32(26, 1, isLittle)
  view.setUint16(30, orientation, isLittle)
  return new Uint8Array(view.buffer)
}

describe.each([true, false])('little-endian: %s', (isLittle) => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('orientation %d', (orientation) => {
    expect(parseExifOrientation(block(isLittle, orientation))).toBe(orientation)
  })

  it.each([0, 9, 65535])('%d means nothing and counts as 1', (value) => {
    expect(parseExifOrientation(block(isLittle, value))).toBe(1)
  })

  it('an entry of another type, and a block of another kind, name none', () => {
    expect(parseExifOrientation(block(isLittle, 6, { type: 4 }))).toBe(1)
    expect(parseExifOrientation(block(isLittle, 6, { magic: 43 }))).toBe(1)
  })

  it('names none when it is cut off before the orientation', () => {
    const whole = block(isLittle, 6)
    for (let length = 0; length < 34; length++)
      expect([length, parseExifOrientation(whole.subarray(0, length))]).toEqual([length, 1])
    expect(parseExifOrientation(whole.subarray(0, 34))).toBe(6)
  })
})
