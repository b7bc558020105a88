/** The pictures of turns: encoded, listed, released. */
import type { PassLine } from '../generation/pass-queue.ts'
import type { LoadedModel } from './loaded-model.ts'
import { encodePicture, findPicture, type Picture, type PreparedPicture } from './picture.ts'
import { type EncodedTurn, type GivenPicture, isEncoded, type Turn, type TurnPicture } from './turn.ts'
import type { ChatEvent } from './types.ts'

type PictureEvent = Extract<ChatEvent, { type: 'image-progressed' | 'image-encoded' }>

/** Encodes the pictures that are not encoded yet; they are `fresh`, and the caller's to release. */
export async function* encodeTurns(
  loaded: LoadedModel,
  line: PassLine,
  turns: readonly Turn[],
  signal: AbortSignal | undefined,
  fresh: Picture[],
): AsyncGenerator<PictureEvent, readonly EncodedTurn[], undefined> {
  const given = turns.flatMap(({ pictures }) => pictures.filter((picture) => !isEncoded(picture)))
  const encoded = new Map<TurnPicture, Picture>()
  // All pictures are read before the first is encoded, so that a broken one is found at once.
  const found = []
  for (const { input, ...look } of given as GivenPicture[]) {
    const picture = await findPicture(loaded, input, look, signal)
    if (isEncoded(picture)) fresh.push(picture)
    found.push(picture)
  }
  for (const [image, picture] of found.entries()) {
    let finished = isEncoded(picture) ? picture : takeKnown(loaded, picture)
    if (!finished) {
      finished = keepPicture(
        loaded,
        yield* encodePicture(loaded, picture as PreparedPicture, signal, { image, line }),
      )
    }
    if (finished !== picture) fresh.push(finished)
    encoded.set(given[image] as TurnPicture, finished)
    yield { type: 'image-encoded', image, report: finished.report }
  }
  return turns.map((turn) => ({
    ...turn,
    pictures: turn.pictures.map((picture) => encoded.get(picture) ?? (picture as Picture)),
  }))
}

/** Encoded since it was looked for: by another conversation, or as an earlier picture of this one. */
function takeKnown(
  { pictureCache }: LoadedModel,
  { key, source, report }: PreparedPicture,
): Picture | undefined {
  const known = key === undefined ? undefined : pictureCache.take(key)
  return known && { ...known, source, report: { ...report, cached: true } }
}

function keepPicture({ pictureCache }: LoadedModel, picture: Picture): Picture {
  if (picture.key === undefined) return picture
  const { source, report } = picture
  return { ...pictureCache.put(picture.key, picture), source, report }
}

export function picturesOf(turns: readonly Turn[]): Picture[] {
  return turns.flatMap(({ pictures }) => pictures.filter(isEncoded))
}

export function releasePictures({ pictureCache }: LoadedModel, pictures: readonly Picture[]): void {
  for (const picture of pictures) pictureCache.release(picture)
}
