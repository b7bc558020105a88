/** The one value of Exif that is kept: which side of the picture is up. */

const ORIENTATION = 0x0112

/**
 * @param tiff Exif data behind its `Exif\0\0` mark.
 * @returns 1 to 8; 1, upright, also for what cannot be read.
 */
export function orientationOf(tiff: Uint8Array): number {
  if (tiff.length < 14) return 1
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength)
  const isLittle = view.getUint16(0) === 0x4949
  if (!isLittle && view.getUint16(0) !== 0x4d4d) return 1
  const start = view.getUint32(4, isLittle)
  if (start + 2 > tiff.length) return 1
  const count = view.getUint16(start, isLittle)
  for (let entry = 0; entry < count; entry++) {
    const offset = start + 2 + entry * 12
    if (offset + 12 > tiff.length) return 1
    if (view.getUint16(offset, isLittle) !== ORIENTATION) continue
    const value = view.getUint16(offset + 8, isLittle)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** A JPEG segment of Exif with nothing but the orientation. */
export function orientationSegment(orientation: number): Uint8Array<ArrayBuffer> {
  // Marker, length 34; "Exif\0\0"; big-endian TIFF whose first directory, at 8, has one entry; no further directory.
  return Uint8Array.of(
    ...[0xff, 0xe1, 0, 34],
    ...[0x45, 0x78, 0x69, 0x66, 0, 0],
    ...[0x4d, 0x4d, 0, 42, 0, 0, 0, 8],
    ...[0, 1],
    ...[0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0],
    ...[0, 0, 0, 0],
  )
}
