/** Streams of samples in frames of one length. */

/** The last frame is filled up with silence. */
export async function* frames(
  pieces: AsyncIterable<Float32Array>,
  length: number,
): AsyncGenerator<Float32Array> {
  let frame = new Float32Array(length)
  let filled = 0
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + length - filled)
      frame.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < length) break
      yield frame
      frame = new Float32Array(length)
      filled = 0
    }
  }
  if (filled > 0) yield frame
}
