/** `intake` with the decoders of the browser. */
import { type IntakePorts, intakeOn } from './intake.ts'
import { newId } from './new-id.ts'
import { type Picture, THUMBNAIL_PIXELS } from './picture.ts'

/** Canvases above this stay blank on iPhones. */
const MAX_CANVAS_PIXELS = 16e6
/** Above what people see, and below twice the bytes of the best. */
const QUALITY = 0.95

const ports: IntakePorts = {
  async look(blob) {
    const bitmap = await createImageBitmap(blob)
    try {
      const { width, height } = bitmap
      const scale = Math.min(1, THUMBNAIL_PIXELS / Math.max(width, height))
      return { width, height, thumbnail: await draw(bitmap, scale, 'image/jpeg', 0.8) }
    } finally {
      bitmap.close()
    }
  },
  async redraw(blob, type) {
    const bitmap = await createImageBitmap(blob)
    try {
      const scale = Math.min(1, Math.sqrt(MAX_CANVAS_PIXELS / (bitmap.width * bitmap.height)))
      return await draw(bitmap, scale, type, QUALITY)
    } finally {
      bitmap.close()
    }
  },
  createId: newId,
}

/** Takes a picture in. @throws PictureProblem */
export function intake(file: Blob): Promise<Picture> {
  return intakeOn(ports, file)
}

function draw(bitmap: ImageBitmap, scale: number, type: string, quality: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(bitmap.width * scale)),
    Math.max(1, Math.round(bitmap.height * scale)),
  )
  const context = canvas.getContext('2d')
  if (!context) throw new Error('No canvas could be made.')
  // JPEG has no transparency, and models see none.
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return canvas.convertToBlob({ type, quality })
}
