/**
 * Reads protocol buffer messages from a file field by field, so that the weights inside are passed over and not read.
 * Source: protobuf.dev, "Encoding".
 */
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'

export interface Field {
  readonly number: number
  readonly wireType: number
  /** The value of a number (wire type 0); of other types the length in bytes. */
  readonly value: number
  /** Where the value's bytes begin in the file. */
  readonly byteOffset: number
}

/** A stretch of a file. */
export interface Extent {
  readonly byteOffset: number
  readonly byteLength: number
}

/** Read at a time: many small messages, or one look at a large one's beginning. */
const PAGE_BYTES = 64 * 1024
const VARINT = 0
const FIXED64 = 1
const LENGTH_DELIMITED = 2
const FIXED32 = 5
/** Numbers of up to 64 bits have seven in a byte. */
const MAX_VARINT_BYTES = 10

export class MessageReader {
  readonly #source: ByteSource
  #page: Uint8Array = new Uint8Array(0)
  #pageOffset = 0

  constructor(source: ByteSource) {
    this.#source = source
  }

  /** The fields of the message in `extent`, in order. Throws `format/damaged`, `format/truncated`. */
  async *fields({ byteOffset, byteLength }: Extent): AsyncGenerator<Field, void, undefined> {
    const end = byteOffset + byteLength
    let at = byteOffset
    while (at < end) {
      const [tag, afterTag] = await this.#varint(at, end)
      const number = Math.floor(tag / 8)
      const wireType = tag % 8
      if (number === 0) throw this.#damaged(at, 'a field', 'field number 0')
      if (wireType === VARINT) {
        const [value, next] = await this.#varint(afterTag, end)
        yield { number, wireType, value, byteOffset: afterTag }
        at = next
        continue
      }
      const [length, start] =
        wireType === LENGTH_DELIMITED
          ? await this.#varint(afterTag, end)
          : [wireType === FIXED64 ? 8 : wireType === FIXED32 ? 4 : -1, afterTag]
      if (length < 0) throw this.#damaged(at, 'a field', `wire type ${wireType}`)
      if (start + length > end) {
        throw new EngineError('format/truncated', {
          message: `${this.#source.name}: field ${number} at byte ${at} has ${length} bytes, but what holds it ends at byte ${end}.`,
          hint: 'The download looks incomplete; fetch the file again.',
        })
      }
      yield { number, wireType, value: length, byteOffset: start }
      at = start + length
    }
  }

  async text({ value, byteOffset }: Field, maxBytes: number): Promise<string> {
    if (value > maxBytes) throw this.#damaged(byteOffset, `a name of at most ${maxBytes} bytes`, `${value}`)
    await this.#load(byteOffset, value)
    const start = byteOffset - this.#pageOffset
    return new TextDecoder().decode(this.#page.subarray(start, start + value))
  }

  /** Numbers that stand one after the other in one field. */
  async numbers({ value, byteOffset }: Field, maxCount: number): Promise<number[]> {
    const numbers: number[] = []
    for (let at = byteOffset; at < byteOffset + value; ) {
      const [number, next] = await this.#varint(at, byteOffset + value)
      numbers.push(number)
      at = next
      if (numbers.length > maxCount) throw this.#damaged(byteOffset, `at most ${maxCount} numbers`, 'more')
    }
    return numbers
  }

  async #varint(at: number, end: number): Promise<[value: number, next: number]> {
    await this.#load(at, Math.min(MAX_VARINT_BYTES, end - at))
    let value = 0
    let scale = 1
    for (let index = 0; index < MAX_VARINT_BYTES && at + index < end; index++) {
      const byte = this.#page[at + index - this.#pageOffset] as number
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (Number.isSafeInteger(value)) return [value, at + index + 1]
        break // negative numbers have the top bit set; nothing here may be one
      }
      scale *= 128
    }
    throw this.#damaged(at, 'a whole number below 2^53', 'something else')
  }

  /** Makes the page hold these bytes. */
  async #load(byteOffset: number, byteLength: number): Promise<void> {
    const start = byteOffset - this.#pageOffset
    if (start >= 0 && start + byteLength <= this.#page.length) return
    const length = Math.min(Math.max(byteLength, PAGE_BYTES), this.#source.byteLength - byteOffset)
    const page = new Uint8Array(Math.max(length, byteLength))
    await this.#source.readInto(page, byteOffset)
    this.#page = page
    this.#pageOffset = byteOffset
  }

  #damaged(byteOffset: number, expected: string, found: string): EngineError {
    return new EngineError('format/damaged', {
      message: `${this.#source.name}: expected ${expected} at byte ${byteOffset}, found ${found}.`,
      hint: 'The file is damaged, or no ONNX file; fetch it again.',
    })
  }
}
