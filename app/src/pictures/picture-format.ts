/** Tells formats by their first bytes: names and types of files are often wrong. */
export type PictureFormat = 'jpeg' | 'png' | 'webp' | 'heic' | 'avif' | 'other'

/** Brands of HEIC and its sequences; `mif1` and `msf1` say only that it is of that kind of file. */
const HEIC_BRANDS = /^(?:hei[cxms]|hev[cxms]|mif1|msf1)$/

export function formatOf(bytes: Uint8Array): PictureFormat {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'jpeg'
  if (textAt(bytes, 1, 3) === 'PNG' && bytes[0] === 0x89) return 'png'
  if (textAt(bytes, 0, 4) === 'RIFF' && textAt(bytes, 8, 4) === 'WEBP') return 'webp'
  if (textAt(bytes, 4, 4) === 'ftyp') {
    // The main brand, a version, then the brands that it also is.
    const brands = [8, 16, 20, 24, 28].map((offset) => textAt(bytes, offset, 4))
    if (brands.some((brand) => brand === 'avif' || brand === 'avis')) return 'avif'
    if (brands.some((brand) => HEIC_BRANDS.test(brand))) return 'heic'
  }
  return 'other'
}

export function textAt(bytes: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + length))
}
