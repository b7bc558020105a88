const ORIENTATION_TAG = 0x0112
const SHORT = 3
const ENTRY_BYTES = 12

/**
 * The orientation that an Exif block names (a TIFF structure, as CIPA DC-008 embeds it): 1 to 8; 1 when it names none
 * or an impossible one.
 */
export function parseExifOrientation(block: Uint8Array): number {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength)
  if (block.length < 8) return 1
  const isLittle = block[0] === 0x49 && block[1] === 0x49
  const isBig = block[0] === 0x4d && block[1] === 0x4d
  if ((!isLittle && !isBig) || view.getUint16(2, isLittle) !== 42) return 1
  const directory = view.getUint32(4, isLittle)
  if (directory + 2 > block.length) return 1
  const entries = view.getUint16(directory, isLittle)
  for (let index = 0; index < entries; index++) {
    const at = directory + 2 + index * ENTRY_BYTES
    if (at + ENTRY_BYTES > block.length) return 1
    if (view.getUint16(at, isLittle) !== ORIENTATION_TAG) continue
    const value = view.getUint16(at + 8, isLittle)
    return view.getUint16(at + 2, isLittle) === SHORT && value >= 1 && value <= 8 ? value : 1
  }
  return 1
}
