/** Pictures for remote endpoints, read as those for models on the device. */
import type { EncodeRemotePicture } from '../assistant/remote/remote-picture.ts'
import { readImage } from '../engine/read-image.ts'
import type { ImageDecoder } from '../image/decoder.ts'
import type { EncodeJpeg } from '../image/jpeg-encoder.ts'
import type { FileHost } from '../shared/model-files.ts'

/** Small writing stays legible. */
const JPEG_QUALITY = 90

export function createRemotePictureEncoder(
  files: Pick<FileHost, 'readPicture'>,
  decoder: ImageDecoder,
  encodeJpeg: EncodeJpeg,
): EncodeRemotePicture {
  return async (input, longestSide, signal) => {
    const { image, orientation } = await readImage(input, files, decoder, signal)
    const { bytes, width: usedWidth, height: usedHeight } = await encodeJpeg(image, longestSide, JPEG_QUALITY)
    const { width, height } = image
    return { jpeg: bytes, report: { width, height, usedWidth, usedHeight, orientation } }
  }
}
