/**
 * A position in the bytes of a GGUF header. Knows two ends: that of the bytes read so far, behind which the
 * loader has to read more, and that of the file, behind which the file is truncated.
 */
import { EngineError } from '../../shared/errors.ts'

/** Thrown when the bytes read so far do not reach; never leaves this folder. */
export class MoreBytesNeeded extends Error {
  readonly byteLength: number

  constructor(byteLength: number) {
    super(`The header needs at least ${byteLength} bytes.`)
    this.byteLength = byteLength
  }
}

export class HeaderCursor {
  readonly fileName: string
  #bytes: Uint8Array
  #view: DataView
  #fileByteLength: number
  #offset = 0
  // ignoreBOM: a token may be the byte order mark itself; fatal: wrong text must not pass silently.
  #textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  constructor(fileName: string, bytes: Uint8Array, fileByteLength: number) {
    this.fileName = fileName
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#fileByteLength = fileByteLength
  }

  get offset(): number {
    return this.#offset
  }

  /** Bytes from here to the end of the file. */
  get remaining(): number {
    return this.#fileByteLength - this.#offset
  }

  /** Moves on by `byteLength` and returns where it was. `field` names what is read. */
  #advance(byteLength: number, field: string): number {
    const start = this.#offset
    const end = start + byteLength
    if (end > this.#fileByteLength) {
      throw new EngineError('format/truncated', {
        message: `${this.fileName}: ${field} at byte ${start} needs ${byteLength} bytes, but the file ends at byte ${this.#fileByteLength}.`,
        hint: 'The download looks incomplete; fetch the file again.',
      })
    }
    if (end > this.#bytes.byteLength) throw new MoreBytesNeeded(end)
    this.#offset = end
    return start
  }

  u8(field: string): number {
    return this.#view.getUint8(this.#advance(1, field))
  }

  i8(field: string): number {
    return this.#view.getInt8(this.#advance(1, field))
  }

  u16(field: string): number {
    return this.#view.getUint16(this.#advance(2, field), true)
  }

  i16(field: string): number {
    return this.#view.getInt16(this.#advance(2, field), true)
  }

  u32(field: string): number {
    return this.#view.getUint32(this.#advance(4, field), true)
  }

  i32(field: string): number {
    return this.#view.getInt32(this.#advance(4, field), true)
  }

  f32(field: string): number {
    return this.#view.getFloat32(this.#advance(4, field), true)
  }

  f64(field: string): number {
    return this.#view.getFloat64(this.#advance(8, field), true)
  }

  u64(field: string): number | bigint {
    return toSafeNumber(this.#view.getBigUint64(this.#advance(8, field), true))
  }

  i64(field: string): number | bigint {
    return toSafeNumber(this.#view.getBigInt64(this.#advance(8, field), true))
  }

  /** A u64 that counts or measures something; refused above `limit`. */
  count(field: string, limit: number): number {
    const start = this.#advance(8, field)
    const high = this.#view.getUint32(start + 4, true)
    const value = this.#view.getUint32(start, true) + high * 2 ** 32
    if (value > limit) {
      throw new EngineError('format/limit-exceeded', {
        message: `${this.fileName}: ${field} is ${this.#view.getBigUint64(start, true)}, expected at most ${limit}.`,
        hint: 'The file is damaged; fetch it again.',
      })
    }
    return value
  }

  /** A fresh copy of the next `byteLength` bytes, so that typed arrays over it are aligned. */
  copy(byteLength: number, field: string): ArrayBuffer {
    const start = this.#advance(byteLength, field)
    return new Uint8Array(this.#bytes.subarray(start, start + byteLength)).buffer
  }

  /** A string with its u64 length in front. */
  string(field: string, maxByteLength: number): string {
    const byteLength = this.count(`length of ${field}`, maxByteLength)
    const start = this.#advance(byteLength, field)
    try {
      return this.#textDecoder.decode(this.#bytes.subarray(start, start + byteLength))
    } catch (cause) {
      throw new EngineError('format/bad-utf8', {
        message: `${this.fileName}: ${field} at byte ${start} is not valid UTF-8 text (${byteLength} bytes).`,
        hint: 'The file is damaged or was written by a faulty converter; fetch or convert it again.',
        cause,
      })
    }
  }

  /** `length` strings in a row. Vocabularies have hundreds of thousands of short ones. */
  strings(length: number, field: string, maxByteLength: number): string[] {
    const texts: string[] = []
    for (let i = 0; i < length; i++) {
      texts.push(this.#shortString() ?? this.string(`element ${i} of ${field}`, maxByteLength))
    }
    return texts
  }

  /** The fast way for what is complete, short and simple; undefined, without moving, for everything else. */
  #shortString(): string | undefined {
    const start = this.#offset + 8
    if (start > this.#bytes.byteLength || this.#view.getUint32(start - 4, true) !== 0) return undefined
    const end = start + this.#view.getUint32(start - 8, true)
    if (end - start > MAX_SHORT_BYTES || end > this.#bytes.byteLength) return undefined
    const text = decodeShortText(this.#bytes, start, end)
    if (text !== undefined) this.#offset = end
    return text
  }
}

/** Up to here decoding by hand is faster than a call of the decoder. */
const MAX_SHORT_BYTES = 32

/** One- and two-byte UTF-8 only, as in byte-level vocabularies; undefined for anything else. */
function decodeShortText(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = ''
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte < 0x80) {
      text += String.fromCharCode(byte)
      continue
    }
    const next = at + 1 < end ? (bytes[at + 1] as number) : 0
    if (byte < 0xc2 || byte > 0xdf || (next & 0xc0) !== 0x80) return undefined
    text += String.fromCharCode(((byte & 0x1f) << 6) | (next & 0x3f))
    at++
  }
  return text
}

function toSafeNumber(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
