/** Films for a fake camera: still scenes, each for its time, in the one format that Chromium plays with a frame rate. */
import { closeSync, openSync, writeSync } from 'node:fs'
import sharp from 'sharp'

export const FILM_WIDTH = 640
export const FILM_HEIGHT = 480

/** RGB, three bytes a pixel, 640 x 480. */
export type FilmFrame = Uint8Array

/** A picture in the middle of a frame, its edges drawn out to the sides. */
export async function frameOfPicture(path: string): Promise<FilmFrame> {
  const side = (FILM_WIDTH - FILM_HEIGHT) / 2
  const { data } = await sharp(path)
    .flatten({ background: 'white' })
    .resize(FILM_HEIGHT, FILM_HEIGHT, { fit: 'contain', background: 'white' })
    .extend({ left: side, right: side, extendWith: 'copy' })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return new Uint8Array(data)
}

export interface Shot {
  readonly frame: FilmFrame
  readonly seconds: number
}

/** Writes a YUV4MPEG2 file (4:2:0). The fake camera plays it again and again. */
export function writeFilm(path: string, shots: readonly Shot[], framesPerSecond = 5): void {
  const file = openSync(path, 'w')
  try {
    writeSync(file, `YUV4MPEG2 W${FILM_WIDTH} H${FILM_HEIGHT} F${framesPerSecond}:1 Ip A1:1 C420jpeg\n`)
    for (const { frame, seconds } of shots) {
      const planes = planesOf(frame)
      for (let left = Math.round(seconds * framesPerSecond); left > 0; left--) {
        writeSync(file, 'FRAME\n')
        writeSync(file, planes)
      }
    }
  } finally {
    closeSync(file)
  }
}

/** ITU-R BT.601 in the limited range of video; colours are those of the top left of each square of four pixels. */
function planesOf(frame: FilmFrame): Uint8Array {
  const pixels = FILM_WIDTH * FILM_HEIGHT
  const planes = new Uint8Array((pixels * 3) / 2)
  for (let y = 0; y < FILM_HEIGHT; y++) {
    for (let x = 0; x < FILM_WIDTH; x++) {
      const at = y * FILM_WIDTH + x
      const [r = 0, g = 0, b = 0] = frame.subarray(at * 3, at * 3 + 3)
      planes[at] = Math.round(16 + 0.257 * r + 0.504 * g + 0.098 * b)
      if (x % 2 === 0 && y % 2 === 0) {
        const half = (y / 2) * (FILM_WIDTH / 2) + x / 2
        planes[pixels + half] = Math.round(128 - 0.148 * r - 0.291 * g + 0.439 * b)
        planes[(pixels * 5) / 4 + half] = Math.round(128 + 0.439 * r - 0.368 * g - 0.071 * b)
      }
    }
  }
  return planes
}
