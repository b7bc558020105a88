/** Samples and pixels that go to the other side without a copy, because nobody here needs them any more. */
import type { ImageInput } from 'onsight'

const handedOver = new WeakSet<object>()

/**
 * Says that nobody reads these pixels or bytes after the question that they are sent with: they are then moved into the
 * worker instead of being copied, and are empty here.
 */
export function handOver<Picture extends Extract<ImageInput, object>>(picture: Picture): Picture {
  handedOver.add(picture)
  return picture
}

/** Buffers of the pictures that were handed over. */
export function ownedBuffersOf(pictures: readonly ImageInput[] = []): ArrayBuffer[] {
  return pictures.flatMap((picture) => {
    if (typeof picture !== 'object' || !handedOver.has(picture)) return []
    const bytes = picture instanceof Uint8Array ? picture : 'data' in picture ? picture.data : undefined
    return bytes ? wholeBuffer(bytes) : []
  })
}

/** Of a clip that was made for the receiver alone. A view of a part, or of shared memory, is copied. */
export function wholeBuffer({ buffer, byteLength }: ArrayBufferView): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}
