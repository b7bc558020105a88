/** From what a request names to files with pictures. */
import type { ChatTurn } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import type { NamedPicture, RequestTurn } from './answer-request.ts'

/** Fetches a picture from an address, which must be safe to ask. */
export type RemotePictureLoader = (url: URL, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>

/** Each costs time and context; models were trained with a few. */
export const MAX_PICTURES = 8

/** Throws `image/…` naming the field of the picture that cannot be had. */
export async function loadTurns(
  turns: readonly RequestTurn[],
  loadRemote: RemotePictureLoader | undefined,
  signal: AbortSignal,
): Promise<ChatTurn[]> {
  const count = turns.reduce((sum, turn) => sum + (turn.role === 'user' ? turn.pictures.length : 0), 0)
  if (count > MAX_PICTURES) {
    throw new EngineError('image/too-many', {
      message: `Expected at most ${MAX_PICTURES} pictures in a request, found ${count}.`,
      hint: 'Leave out pictures of earlier turns.',
      field: 'messages',
    })
  }
  const loaded: ChatTurn[] = []
  for (const turn of turns) {
    if (turn.role !== 'user') {
      loaded.push(turn)
      continue
    }
    const { text, detail, offsets, pictures } = turn
    const images: File[] = []
    for (const picture of pictures) images.push(await loadPicture(picture, loadRemote, signal))
    loaded.push({
      role: 'user',
      text,
      ...(images.length > 0 && { images, imageOffsets: offsets, detail }),
    })
  }
  return loaded
}

async function loadPicture(
  { field, url }: NamedPicture,
  loadRemote: RemotePictureLoader | undefined,
  signal: AbortSignal,
): Promise<File> {
  if (/^data:/i.test(url)) return new File([decodeDataUrl(url, field)], field)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new EngineError('image/invalid-input', {
      message: `${field}: expected a data: address, found "${url.slice(0, 40)}".`,
      hint: 'Send the picture itself: data:image/jpeg;base64,…',
      field,
    })
  }
  if (!loadRemote) {
    throw new EngineError('image/remote', {
      message: `${field}: this server does not fetch pictures from other machines.`,
      hint: 'Send the picture itself (data:image/jpeg;base64,…), or start the server with --allow-remote-images.',
      field,
    })
  }
  try {
    return new File([await loadRemote(parsed, signal)], field)
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    const { code, message, hint } = error
    throw new EngineError(code, {
      message: `${field}: ${message}`,
      ...(hint !== undefined && { hint }),
      field,
      cause: error,
    })
  }
}

/** Media type and parameters are left aside: what a picture is, its bytes say. */
function decodeDataUrl(url: string, field: string): Uint8Array<ArrayBuffer> {
  const comma = url.indexOf(',')
  const isBase64 = comma >= 0 && /;\s*base64\s*$/i.test(url.slice(0, comma))
  if (!isBase64) {
    throw new EngineError('image/invalid-input', {
      message: `${field}: expected data:image/…;base64,…, found "${url.slice(0, Math.min(40, comma < 0 ? 40 : comma))}".`,
      field,
    })
  }
  let binary: string
  try {
    binary = atob(url.slice(comma + 1))
  } catch (cause) {
    throw new EngineError('image/invalid-input', {
      message: `${field}: the picture is no valid base64.`,
      hint: 'It may be cut off, or be encoded with another alphabet.',
      field,
      cause,
    })
  }
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}
