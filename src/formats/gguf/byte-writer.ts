/** Little-endian bytes that grow as they are written. */
export class ByteWriter {
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)
  #length = 0
  #textEncoder = new TextEncoder()

  get byteLength(): number {
    return this.#length
  }

  /** A view of what was written so far. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  u8(value: number): void {
    const at = this.#grow(1)
    this.#view.setUint8(at, value)
  }

  i8(value: number): void {
    const at = this.#grow(1)
    this.#view.setInt8(at, value)
  }

  u16(value: number): void {
    const at = this.#grow(2)
    this.#view.setUint16(at, value, true)
  }

  i16(value: number): void {
    const at = this.#grow(2)
    this.#view.setInt16(at, value, true)
  }

  u32(value: number): void {
    const at = this.#grow(4)
    this.#view.setUint32(at, value, true)
  }

  i32(value: number): void {
    const at = this.#grow(4)
    this.#view.setInt32(at, value, true)
  }

  f32(value: number): void {
    const at = this.#grow(4)
    this.#view.setFloat32(at, value, true)
  }

  f64(value: number): void {
    const at = this.#grow(8)
    this.#view.setFloat64(at, value, true)
  }

  u64(value: number | bigint): void {
    const at = this.#grow(8)
    this.#view.setBigUint64(at, BigInt(value), true)
  }

  i64(value: number | bigint): void {
    const at = this.#grow(8)
    this.#view.setBigInt64(at, BigInt(value), true)
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#grow(bytes.byteLength)
    this.#bytes.set(bytes, at)
  }

  /** A u64 byte length, then UTF-8. */
  string(text: string): void {
    const encoded = this.#textEncoder.encode(text)
    this.u64(encoded.byteLength)
    this.bytes(encoded)
  }

  /** Zeros up to the next multiple of `alignment`. */
  padTo(alignment: number): void {
    this.#grow(Math.ceil(this.#length / alignment) * alignment - this.#length)
  }

  /** Makes room for `byteLength` zero bytes and returns where they start. May replace `#bytes` and `#view`. */
  #grow(byteLength: number): number {
    const at = this.#length
    this.#length += byteLength
    if (this.#length > this.#bytes.byteLength) {
      const longer = new Uint8Array(Math.max(this.#length, this.#bytes.byteLength * 2))
      longer.set(this.#bytes)
      this.#bytes = longer
      this.#view = new DataView(longer.buffer)
    }
    return at
  }
}
