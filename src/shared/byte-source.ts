/** Random access to bytes that live somewhere else: a file, a Blob, memory, a server that answers ranges. */
export interface ByteSource {
  /** How a person would recognise it in a message: a path, a URL, a file name. */
  readonly name: string
  /** Total length in bytes. */
  readonly byteLength: number
  /**
   * Fills `target` with the bytes that start at `byteOffset`. `target` may be a view of shared memory.
   * Rejects with `file/read-failed` or `file/truncated` when fewer bytes are there than asked for.
   */
  readInto(target: Uint8Array, byteOffset: number): Promise<void>
  /** Gives back handles. Reading afterwards is an error. Safe to call twice. */
  close(): Promise<void>
}

/** Reads a fresh copy of `byteLength` bytes at `byteOffset`. */
export async function readBytes(
  source: ByteSource,
  byteOffset: number,
  byteLength: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(byteLength)
  await source.readInto(bytes, byteOffset)
  return bytes
}
