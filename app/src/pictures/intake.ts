/**
 * The one way in for pictures, wherever they come from: file, camera, drop, paste, another app. What is kept has nothing
 * but the picture: no place, no time, no device.
 */
import { bareJpeg } from './bare-jpeg.ts'
import type { BareOutcome } from './bare-picture.ts'
import { barePng } from './bare-png.ts'
import { bareWebp } from './bare-webp.ts'
import { MAX_PICTURE_BYTES, MAX_PICTURE_PIXELS, type Picture, PictureProblem } from './picture.ts'
import { formatOf, type PictureFormat } from './picture-format.ts'

export interface IntakePorts {
  /** Decodes, which shows that the picture is whole, and draws it small. Rejects where it cannot be decoded. */
  readonly look: (
    blob: Blob,
  ) => Promise<{ readonly width: number; readonly height: number; readonly thumbnail: Blob }>
  /** The same picture, upright, in a file that has nothing else. */
  readonly redraw: (blob: Blob, type: 'image/jpeg' | 'image/png') => Promise<Blob>
  readonly createId: () => string
}

const BARE: Readonly<Partial<Record<PictureFormat, (file: Uint8Array<ArrayBuffer>) => BareOutcome>>> = {
  jpeg: bareJpeg,
  png: barePng,
  webp: bareWebp,
}

/** @throws PictureProblem */
export async function intakeOn(ports: IntakePorts, file: Blob): Promise<Picture> {
  const name = 'name' in file && typeof file.name === 'string' ? file.name : ''
  if (file.size === 0) throw new PictureProblem('empty', name)
  if (file.size > MAX_PICTURE_BYTES) throw new PictureProblem('bytes', name)
  const bytes = new Uint8Array(await readFile(file, name))
  const format = formatOf(bytes)
  try {
    const blob = await withoutMetadata(ports, file, bytes, format, name)
    const { width, height, thumbnail } = await ports.look(blob)
    if (width * height > MAX_PICTURE_PIXELS) throw new PictureProblem('pixels', name)
    return { id: ports.createId(), blob, thumbnail, name, width, height }
  } catch (error) {
    if (error instanceof PictureProblem) throw error
    const reason = format === 'heic' ? 'heic' : format === 'other' ? 'format' : 'broken'
    throw new PictureProblem(reason, name, error)
  }
}

async function readFile(file: Blob, name: string): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer()
  } catch (error) {
    // Taken away since it was chosen, or a folder.
    throw new PictureProblem('broken', name, error)
  }
}

async function withoutMetadata(
  ports: IntakePorts,
  file: Blob,
  bytes: Uint8Array<ArrayBuffer>,
  format: PictureFormat,
  name: string,
): Promise<Blob> {
  const bare = BARE[format]?.(bytes)
  if (bare) {
    // Before anything is decoded.
    if (bare.width * bare.height > MAX_PICTURE_PIXELS) throw new PictureProblem('pixels', name)
    return new Blob([...bare.parts], { type: `image/${format}` })
  }
  const isPhoto = format === 'heic' || format === 'avif' || format === 'jpeg'
  return ports.redraw(file, isPhoto ? 'image/jpeg' : 'image/png')
}
