import type { EncodeJpeg } from '../../image/jpeg-encoder.ts'
import { EngineError } from '../../shared/errors.ts'

/** Encodes with the browser's own encoder. */
export const encodeJpeg: EncodeJpeg = async ({ data, width, height }, longestSide, quality) => {
  const pixels = new ImageData(width, height)
  for (let from = 0, to = 0; from < data.length; from += 3, to += 4) {
    pixels.data[to] = data[from] as number
    pixels.data[to + 1] = data[from + 1] as number
    pixels.data[to + 2] = data[from + 2] as number
    pixels.data[to + 3] = 255
  }
  const scale = Math.min(1, longestSide / Math.max(width, height))
  const size = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
  const canvas = new OffscreenCanvas(size.width, size.height)
  const context = canvas.getContext('2d', { alpha: false })
  if (!context) {
    throw new EngineError('image/encoder-missing', {
      message: `The browser gave no canvas of ${size.width} x ${size.height} pixels.`,
      hint: 'Close other pages, or make the picture smaller first.',
    })
  }
  const bitmap = await createImageBitmap(pixels)
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, size.width, size.height)
  bitmap.close()
  const file = await canvas.convertToBlob({ type: 'image/jpeg', quality: quality / 100 })
  return { bytes: new Uint8Array(await file.arrayBuffer()), ...size }
}
