/** Reads pictures off a video: a small grey one for the change detector, a whole one for the model. */
import { CELLS_HIGH, CELLS_WIDE } from './change-detector.ts'

/** Above what people and models see. */
const JPEG_QUALITY = 0.92

export class FrameReader {
  readonly #canvas = document.createElement('canvas')
  readonly #context: CanvasRenderingContext2D | null

  constructor() {
    this.#canvas.width = CELLS_WIDE
    this.#canvas.height = CELLS_HIGH
    this.#context = this.#canvas.getContext('2d', { willReadFrequently: true })
  }

  /** Greys of 0 to 255, 32 x 24, row by row. Undefined while there is no picture. */
  cells(video: HTMLVideoElement): Uint8Array | undefined {
    const context = this.#context
    if (!context || video.videoWidth === 0) return undefined
    // Averages: single pixels would bring noise.
    context.imageSmoothingQuality = 'medium'
    context.drawImage(video, 0, 0, CELLS_WIDE, CELLS_HIGH)
    const { data } = context.getImageData(0, 0, CELLS_WIDE, CELLS_HIGH)
    const cells = new Uint8Array(CELLS_WIDE * CELLS_HIGH)
    for (let at = 0; at < cells.length; at++) {
      const [red = 0, green = 0, blue = 0] = data.subarray(at * 4, at * 4 + 3)
      cells[at] = Math.round(0.299 * red + 0.587 * green + 0.114 * blue)
    }
    return cells
  }

  /** The picture that is shown now, as a JPEG file; undefined while there is none. */
  async picture(video: HTMLVideoElement): Promise<Blob | undefined> {
    if (video.videoWidth === 0) return undefined
    const canvas = document.createElement('canvas')
    canvas.width = video.videoWidth
    canvas.height = video.videoHeight
    const context = canvas.getContext('2d')
    if (!context) return undefined
    context.drawImage(video, 0, 0)
    const file = await new Promise<Blob | null>((resolve) =>
      canvas.toBlob(resolve, 'image/jpeg', JPEG_QUALITY),
    )
    return file ?? undefined
  }
}
