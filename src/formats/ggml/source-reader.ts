/** Reads numbers one after the other from a source that is far larger than what is looked at. */
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'

export class SourceReader {
  readonly #source: ByteSource
  readonly #pieceBytes: number
  #bytes = new Uint8Array(0)
  #view = new DataView(this.#bytes.buffer)
  /** Of the first byte held, and of the next to read, in the source. */
  #start = 0
  #offset = 0

  /** `pieceBytes` are read at a time. */
  constructor(source: ByteSource, pieceBytes: number) {
    this.#source = source
    this.#pieceBytes = pieceBytes
  }

  get offset(): number {
    return this.#offset
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#source.byteLength
  }

  /** Makes sure that the next `byteLength` bytes can be read. `field` names what they are. */
  async need(byteLength: number, field: string): Promise<void> {
    if (this.#offset + byteLength <= this.#start + this.#bytes.byteLength) return
    this.#checkEnd(byteLength, field)
    const left = this.#source.byteLength - this.#offset
    const bytes = new Uint8Array(Math.min(Math.max(byteLength, this.#pieceBytes), left))
    await this.#source.readInto(bytes, this.#offset)
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
    this.#start = this.#offset
  }

  /** The next number; `need` was called for it. */
  i32(): number {
    const at = this.#advance(4)
    return this.#view.getInt32(at, true)
  }

  /** A copy of the next bytes; `need` was called for them. */
  bytes(byteLength: number): Uint8Array<ArrayBuffer> {
    const at = this.#advance(byteLength)
    return this.#bytes.slice(at, at + byteLength)
  }

  skip(byteLength: number, field: string): void {
    this.#checkEnd(byteLength, field)
    this.#offset += byteLength
  }

  #advance(byteLength: number): number {
    const at = this.#offset - this.#start
    this.#offset += byteLength
    return at
  }

  #checkEnd(byteLength: number, field: string): void {
    const { name, byteLength: end } = this.#source
    if (this.#offset + byteLength <= end) return
    throw new EngineError('format/truncated', {
      message: `${name}: ${field} at byte ${this.#offset} needs ${byteLength} bytes, but the file ends at byte ${end}.`,
      hint: 'The download looks incomplete; fetch the file again.',
    })
  }
}
