/** What is left of a file when everything but its picture is taken away, without decoding it. */
export interface BarePicture {
  /** Pieces of a file that shows the same picture. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[]
  /** Stored pixels, orientation not applied. */
  readonly width: number
  readonly height: number
}

/** The file cannot be taken apart: it is damaged, or has what only drawing it anew takes away. */
export type BareOutcome = BarePicture | undefined
