/** A picture as the app keeps it: with nothing in it but the picture. */
export interface Picture {
  readonly id: string
  /** Without place, time, device and other metadata. */
  readonly blob: Blob
  /** At most `THUMBNAIL_PIXELS` a side. */
  readonly thumbnail: Blob
  /** Of the file; empty where it had none. */
  readonly name: string
  /** As a person sees it, orientation applied. */
  readonly width: number
  readonly height: number
}

export const THUMBNAIL_PIXELS = 320

/** Most pictures of one question: each takes memory and seconds of the model. */
export const MAX_PICTURES = 6

/** Photos of phones have up to 20 MB; more is no photo, and would fill the storage. */
export const MAX_PICTURE_BYTES = 64e6

/** Decoded, a picture of this size takes 400 MB, which phones do not have. */
export const MAX_PICTURE_PIXELS = 100e6

export type PictureProblemReason = 'empty' | 'bytes' | 'pixels' | 'heic' | 'format' | 'broken'

/** Why a file cannot be taken. */
export class PictureProblem extends Error {
  readonly reason: PictureProblemReason
  readonly fileName: string

  constructor(reason: PictureProblemReason, fileName: string, cause?: unknown) {
    super(`${fileName || 'picture'}: ${reason}`, { cause })
    this.name = 'PictureProblem'
    this.reason = reason
    this.fileName = fileName
  }
}
