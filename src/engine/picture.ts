/** A picture in a conversation: decoded, cut into frames, encoded to rows of the decoder's embedding space. */
import type { BufferRef, DeviceBuffer } from '../backend/backend.ts'
import type { PassLine } from '../generation/pass-queue.ts'
import { type FramePlan, type PreprocessedImage, planFrames, preprocess } from '../image/preprocess.ts'
import type { RgbImage } from '../image/rgb-image.ts'
import type { PictureEncoder } from '../models/language-model.ts'
import { EngineError } from '../shared/errors.ts'
import { runSteps } from '../shared/steps.ts'
import { expandIdefics3, expandLlava } from '../text/image-prompt.ts'
import { planImageTokens } from './image-budget.ts'
import type { LoadedModel } from './loaded-model.ts'
import { keyOfPicture } from './picture-cache.ts'
import { readImage } from './read-image.ts'
import type { ChatEvent, Detail, ImageInput, ImageReport } from './types.ts'

export interface Picture {
  /** By which the model's cache of pictures knows it; undefined for those that are not shared. */
  readonly key: string | undefined
  /** The path or address it was given by. */
  readonly source: string | undefined
  readonly report: ImageReport
  /** Rows in the prompt. */
  readonly tokens: number
  /** What its placeholder becomes in the prompt. */
  readonly expansion: string
  readonly features: DeviceBuffer // f32 (tokens, dim)
}

/** How closely to look at a picture. */
export interface PictureLook {
  readonly detail: Detail
  /** Most tokens it may take. Default: what the model was loaded with. */
  readonly imageTokens?: number | undefined
}

/** A picture that is ready to be encoded. */
export interface PreparedPicture {
  readonly key: string | undefined
  readonly source: string | undefined
  readonly frames: PreprocessedImage
  /** Side of the squares of features that become one; 1 leaves them as they are. */
  readonly pool: number
  readonly report: ImageReport
}

export function requireEncoder({ model, name }: LoadedModel): PictureEncoder {
  if (model.pictures) return model.pictures
  throw new EngineError('model/no-images', {
    message: `${name} is a text model and takes no pictures.`,
    hint: 'Use a vision-language model; for a GGUF file put its mmproj file beside it or name it with --mmproj.',
  })
}

/** A picture that is decoded, and how it will be looked at. */
interface OpenedPicture {
  /** Of the picture as it was given, upright. */
  readonly width: number
  readonly height: number
  readonly source: string | undefined
  readonly image: RgbImage
  readonly orientation: number
  readonly plan: FramePlan
  readonly pool: number
}

async function openPicture(
  loaded: LoadedModel,
  input: ImageInput,
  { detail, imageTokens }: PictureLook,
  signal: AbortSignal | undefined,
): Promise<OpenedPicture> {
  const { tokensPerFrame } = requireEncoder(loaded)
  const { maxFrames, pool } = planImageTokens(leastOf(imageTokens, loaded.imageTokens), tokensPerFrame)
  const { files, images, pictureLimits } = loaded
  const { image, ...given } = await readImage(input, files, images, signal, pictureLimits)
  const settings = loaded.preprocessor as NonNullable<LoadedModel['preprocessor']>
  const source = typeof input === 'string' || input instanceof URL ? String(input) : undefined
  return { ...given, source, image, plan: planFrames(image, settings, detail, maxFrames), pool }
}

async function cutPicture(
  loaded: LoadedModel,
  { source, image, width, height, orientation, plan, pool }: OpenedPicture,
  key: string | undefined,
  signal: AbortSignal | undefined,
): Promise<PreparedPicture> {
  const { tokensPerFrame } = requireEncoder(loaded)
  const frames = await runSteps(preprocess(image, plan), signal)
  const { usedWidth, usedHeight, tiles, detail } = frames
  const tokens = frames.frames.length * pooledTokens(tokensPerFrame, pool)
  const report = { width, height, usedWidth, usedHeight, tiles, orientation, detail, tokens, cached: false }
  return { key, source, frames, pool, report }
}

/** A picture that is to be encoded for its own sake, whether it is known or not. */
export async function preparePicture(
  loaded: LoadedModel,
  input: ImageInput,
  look: PictureLook,
  signal?: AbortSignal,
): Promise<PreparedPicture> {
  return cutPicture(loaded, await openPicture(loaded, input, look, signal), undefined, signal)
}

/** A picture of a conversation: the one that is known, held for the caller, or what is to be encoded. */
export async function findPicture(
  loaded: LoadedModel,
  input: ImageInput,
  look: PictureLook,
  signal?: AbortSignal,
): Promise<Picture | PreparedPicture> {
  const opened = await openPicture(loaded, input, look, signal)
  const { source, image, width, height, plan, pool, orientation } = opened
  const key = await keyOfPicture(image, plan, pool)
  const known = key === undefined ? undefined : loaded.pictureCache.take(key)
  if (known)
    return { ...known, source, report: { ...known.report, width, height, orientation, cached: true } }
  return cutPicture(loaded, opened, key, signal)
}

function leastOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function pooledTokens(tokensPerFrame: number, pool: number): number {
  return tokensPerFrame / pool ** 2
}

export interface EncodeOptions {
  /** Which picture of the message it is, for the events. Default 0. */
  readonly image?: number
  /** Default: that of nobody in particular. */
  readonly line?: PassLine
  /** Called while a frame's projector input lies at `patches`; what it enqueues runs before the next frame. */
  readonly onPatches?: (frame: number, patches: BufferRef) => void
}

type ImageProgressed = Extract<ChatEvent, { type: 'image-progressed' }>

/**
 * Runs the frames through the vision tower, one at a time, so that an abort waits for one at most. Yields after each,
 * returns the picture. Who stops early must `return` it, as `yield*` does, to give the memory back.
 */
export async function* encodePicture(
  loaded: LoadedModel,
  { key, source, frames, pool, report }: PreparedPicture,
  signal?: AbortSignal,
  { image = 0, line = loaded.queue, onPatches }: EncodeOptions = {},
): AsyncGenerator<ImageProgressed, Picture, undefined> {
  const encoder = requireEncoder(loaded)
  const { backend, model } = loaded
  const count = frames.frames.length
  const rowBytes = model.config.decoder.dim * 4
  const frameTokens = pooledTokens(encoder.tokensPerFrame, pool)
  const tokens = count * frameTokens
  const features = backend.alloc(tokens * rowBytes)
  const whole = pool > 1 ? backend.alloc(encoder.tokensPerFrame * rowBytes) : undefined
  let isDone = false
  try {
    const pixels = new Float32Array(3 * frames.frameWidth * frames.frameHeight)
    for (let frame = 0; frame < count; frame++) {
      await line.run(async () => {
        frames.pixelValues(frame, pixels)
        const out = features.at(frame * frameTokens * rowBytes)
        const patches = encoder.run(pixels, whole ?? out)
        if (whole) {
          const side = Math.sqrt(frameTokens)
          const grid = { rows: side, gridColumns: side * pool, columns: rowBytes / 4, factor: pool }
          backend.enqueue('poolRows', { x: whole, out, ...grid })
        }
        onPatches?.(frame, patches)
        await backend.flush(signal)
      }, signal)
      yield { type: 'image-progressed', image, frame: frame + 1, frames: count }
    }
    isDone = true
  } finally {
    if (whole) backend.free(whole)
    if (!isDone) backend.free(features)
  }
  return { key, source, report, tokens, expansion: expand(loaded, frames, frameTokens), features }
}

/** Encodes all frames of a picture. */
export async function finishPicture(
  loaded: LoadedModel,
  prepared: PreparedPicture,
  signal?: AbortSignal,
): Promise<Picture> {
  const frames = encodePicture(loaded, prepared, signal)
  let step = await frames.next()
  while (!step.done) step = await frames.next()
  return step.value
}

function expand({ model }: LoadedModel, { rows, cols }: PreprocessedImage, tokensPerFrame: number): string {
  return model.config.projector?.kind === 'pixel-shuffle'
    ? expandIdefics3(rows, cols, tokensPerFrame)
    : expandLlava(tokensPerFrame)
}
