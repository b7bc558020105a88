/** A picture in a conversation: decoded, cut into frames, encoded to rows of the decoder's embedding space. */
import type { BufferRef, DeviceBuffer } from '../backend/backend.ts'
import { type PreprocessedImage, preprocess } from '../image/preprocess.ts'
import type { PictureEncoder } from '../models/language-model.ts'
import { EngineError } from '../shared/errors.ts'
import { expandIdefics3, expandLlava } from '../text/image-prompt.ts'
import { planImageTokens } from './image-budget.ts'
import type { LoadedModel } from './loaded-model.ts'
import { readImage } from './read-image.ts'
import type { ChatEvent, Detail, ImageInput, ImageReport } from './types.ts'

export interface Picture {
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

export async function preparePicture(
  loaded: LoadedModel,
  input: ImageInput,
  { detail, imageTokens }: PictureLook,
  signal?: AbortSignal,
): Promise<PreparedPicture> {
  const { tokensPerFrame } = requireEncoder(loaded)
  const { maxFrames, pool } = planImageTokens(leastOf(imageTokens, loaded.imageTokens), tokensPerFrame)
  const { image, orientation } = await readImage(input, loaded.files, loaded.images, signal)
  const { width, height } = image
  const settings = loaded.preprocessor as NonNullable<LoadedModel['preprocessor']>
  const frames = preprocess(image, settings, detail, maxFrames)
  const { usedWidth, usedHeight, tiles } = frames
  return {
    frames,
    pool,
    report: {
      width,
      height,
      usedWidth,
      usedHeight,
      tiles,
      orientation,
      detail: frames.detail,
      tokens: frames.frames.length * pooledTokens(tokensPerFrame, pool),
    },
  }
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
  { frames, pool, report }: PreparedPicture,
  signal?: AbortSignal,
  { image = 0, onPatches }: EncodeOptions = {},
): AsyncGenerator<ImageProgressed, Picture, undefined> {
  const encoder = requireEncoder(loaded)
  const { backend, queue, model } = loaded
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
      await queue.run(async () => {
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
      })
      yield { type: 'image-progressed', image, frame: frame + 1, frames: count }
    }
    isDone = true
  } finally {
    if (whole) backend.free(whole)
    if (!isDone) backend.free(features)
  }
  return { report, tokens, expansion: expand(loaded, frames, frameTokens), features }
}

function expand({ model }: LoadedModel, { rows, cols }: PreprocessedImage, tokensPerFrame: number): string {
  return model.config.projector?.kind === 'pixel-shuffle'
    ? expandIdefics3(rows, cols, tokensPerFrame)
    : expandLlava(tokensPerFrame)
}
