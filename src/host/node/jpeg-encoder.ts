import type { EncodeJpeg } from '../../image/jpeg-encoder.ts'

/** Encodes with sharp, which is loaded on first use. */
export const encodeJpeg: EncodeJpeg = async ({ data, width, height }, longestSide, quality) => {
  const { default: sharp } = await import('sharp')
  const result = await sharp(data, { raw: { width, height, channels: 3 } })
    .resize(longestSide, longestSide, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality })
    .toBuffer({ resolveWithObject: true })
  return { bytes: new Uint8Array(result.data), width: result.info.width, height: result.info.height }
}
