/** How a model fits into a limit of memory: pure arithmetic, done before any weight is read. */
import { MAX_PICTURE_PIXELS } from '../image/decoder.ts'
import { KvCache } from '../models/blocks/kv-cache.ts'
import type { DecoderConfig } from '../models/model-config.ts'
import { KV_TYPES, type KvName } from '../models/precision.ts'
import type { PictureLimits } from './read-image.ts'
import type { MemoryPart, MemoryPlan } from './types.ts'

export interface MemoryNeeds {
  readonly limitBytes: number
  /** Everything beside the engine's buffers and what pictures need: the process, its threads, compiled code. */
  readonly programBytes: number
  readonly weightBytes: number
  /** Staging memory while weights are read; what comes later may lie in its place. */
  readonly loadingBytes: number
  /** Workspace and logits for passes of so many tokens. */
  readonly runStateBytes: (passTokens: number) => number
  readonly decoder: DecoderConfig
  /** Ways to keep keys and values, the preferred one first. */
  readonly kvTypes: readonly KvName[]
  /** Most tokens of a pass. */
  readonly passTokens: number
  /** Longest conversation that is wished for. */
  readonly contextLength: number
  /** Ways to look at a picture, the closest first; empty for text models. */
  readonly looks: readonly PlannedLook[]
  /** Most bytes for pictures that no conversation uses. */
  readonly imageCacheBytes: number
}

export interface PlannedLook {
  /** Most tokens of a picture. */
  readonly tokens: number
  /** Long side in pixels that the model sees. */
  readonly edge: number
  /** Long side in pixels of the picture from which that is made. */
  readonly resizedEdge: number
  /** Features of a whole frame, where they are pooled. */
  readonly scratchBytes: number
}

/** What a plan says to the parts of the engine. */
export interface PlannedSettings {
  readonly kv: KvName
  readonly contextLength: number
  readonly maxPassTokens: number
  /** Undefined for text models. */
  readonly imageTokens: number | undefined
  readonly imageCacheBytes: number
  readonly pictureLimits: PictureLimits | undefined
  /** Most bytes of the engine's buffers. */
  readonly bufferBytes: number
}

export type MemoryOutcome =
  | { readonly fits: true; readonly plan: MemoryPlan; readonly settings: PlannedSettings }
  /** With everything at its least. */
  | { readonly fits: false; readonly leastBytes: number; readonly parts: readonly MemoryPart[] }

/** Tokens of a pass halve down to this: fewer need less workspace and are slower. */
const LEAST_PASS_TOKENS = 32
/** A conversation about a picture with room for several questions. Shorter ones only where nothing else helps. */
const GOOD_CONTEXT = 2048
/** A question and an answer. */
const LEAST_CONTEXT = 512
/** A cache that grows block by block leaves gaps behind: up to 1.21 times its size in simulations of published shapes. */
const CACHE_GAPS = 1.25
/** Ends of buffers and pages. */
const BUFFER_SLACK = 2 ** 20

/**
 * While a picture is read: its pixels (3 bytes each), the copy that is digested, and those of the picture before, which
 * the JavaScript engine collects when it likes; and its file at up to 2 bytes a pixel.
 */
const BYTES_PER_PIXEL = 12
/** The resized picture, its tiles, and those of the picture before. */
const BYTES_PER_SEEN_PIXEL = 9
/** The decoder's own code and buffers. */
const DECODER_BYTES = 20e6
/** Files of photos are read up to this size whatever is left. */
const LEAST_FILE_BYTES = 12e6
/** Pictures are decoded at least at this size. */
const LEAST_PIXELS = 1e6

export function planMemory(needs: MemoryNeeds): MemoryOutcome {
  const { contextLength, looks, kvTypes } = needs
  const closest: PlannedLook | undefined = looks[0]
  const pass = needs.passTokens
  for (const kv of kvTypes) {
    const found = tryFit(needs, { kv, pass, look: closest }, contextLength)
    if (found) return found
  }
  const kv = kvTypes.at(-1) as KvName
  const options: readonly (PlannedLook | undefined)[] = looks.length > 0 ? looks : [undefined]
  for (const look of options) {
    const found = tryFit(needs, { kv, pass, look }, GOOD_CONTEXT)
    if (found) return found
  }
  for (let passTokens = pass; passTokens >= Math.min(pass, LEAST_PASS_TOKENS); passTokens /= 2) {
    for (const look of options) {
      const found = tryFit(needs, { kv, pass: passTokens, look }, LEAST_CONTEXT)
      if (found) return found
    }
  }
  const least = options.map((look) =>
    partsOf(
      needs,
      { kv, pass: Math.min(pass, LEAST_PASS_TOKENS), look },
      leastContext(needs, look, LEAST_CONTEXT),
    ),
  )
  const parts = least.reduce((best, one) => (totalOf(one) < totalOf(best) ? one : best))
  return { fits: false, leastBytes: totalOf(parts), parts }
}

interface Choice {
  readonly kv: KvName
  readonly pass: number
  readonly look: PlannedLook | undefined
}

/** The longest context from `least` on; undefined where not even that fits. */
function tryFit(needs: MemoryNeeds, choice: Choice, least: number): MemoryOutcome | undefined {
  const fits = (context: number): boolean => totalOf(partsOf(needs, choice, context)) <= needs.limitBytes
  let low = leastContext(needs, choice.look, least)
  if (!fits(low)) return undefined
  let high = needs.contextLength
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return finish(needs, choice, low)
}

/** A picture takes half of a conversation at most, unless the wished one is shorter than that. */
function leastContext({ contextLength }: MemoryNeeds, look: PlannedLook | undefined, least: number): number {
  return Math.min(contextLength, Math.max(least, 2 * (look?.tokens ?? 0)))
}

/** What is left goes to pictures that may be needed again, then to pictures in their own size. */
function finish(needs: MemoryNeeds, choice: Choice, contextLength: number): MemoryOutcome {
  const { limitBytes, programBytes } = needs
  const leastParts = partsOf(needs, choice, contextLength)
  const features = bytesOf(leastParts, 'picture-features')
  const left = limitBytes - totalOf(leastParts)
  const kept = choice.look
    ? Math.floor(Math.min(Math.max(features, needs.imageCacheBytes), features + left))
    : 0
  const pixels =
    choice.look &&
    Math.min(
      MAX_PICTURE_PIXELS,
      Math.floor(leastPixels(choice.look) + (left - (kept - features)) / BYTES_PER_PIXEL),
    )
  const parts = partsOf(needs, choice, contextLength, kept, pixels)
  const reading = bytesOf(parts, 'reading-pictures')
  return {
    fits: true,
    plan: {
      limitBytes,
      totalBytes: totalOf(parts),
      parts,
      kv: choice.kv,
      contextLength,
      imageTokens: choice.look?.tokens,
    },
    settings: {
      kv: choice.kv,
      contextLength,
      maxPassTokens: choice.pass,
      imageTokens: choice.look?.tokens,
      imageCacheBytes: Math.min(kept, needs.imageCacheBytes),
      pictureLimits:
        pixels === undefined
          ? undefined
          : { maxPixels: pixels, maxFileBytes: Math.floor(LEAST_FILE_BYTES + 2 * pixels) },
      bufferBytes: Math.floor(limitBytes - programBytes - reading),
    },
  }
}

function partsOf(
  needs: MemoryNeeds,
  { kv, pass, look }: Choice,
  context: number,
  kept = 0,
  pixels = look && leastPixels(look),
): MemoryPart[] {
  const { programBytes, weightBytes, loadingBytes, runStateBytes, decoder } = needs
  const perToken = KvCache.bytesPerToken(decoder, KV_TYPES[kv])
  // The table of rotations grows by doubling.
  const keysAndValues = context * (perToken * CACHE_GAPS + 2 * decoder.headDim * 4)
  const features = look ? featureBytes(needs, look, context) : 0
  const later = keysAndValues + Math.max(kept, features)
  const runState = runStateBytes(pass)
  // Buffers lie where there is room: in the place of staging memory only what is not larger.
  const together =
    runState > loadingBytes
      ? runState + Math.max(loadingBytes, later)
      : Math.max(loadingBytes, runState + later)
  const parts: MemoryPart[] = [
    { use: 'program', bytes: programBytes },
    { use: 'weights', bytes: weightBytes },
    { use: 'run-state', bytes: together - later + BUFFER_SLACK },
    { use: 'keys-and-values', bytes: keysAndValues },
  ]
  if (look && pixels !== undefined) {
    parts.push({ use: 'picture-features', bytes: Math.max(kept, features) })
    const reading =
      pixels * BYTES_PER_PIXEL +
      look.resizedEdge ** 2 * BYTES_PER_SEEN_PIXEL +
      DECODER_BYTES +
      LEAST_FILE_BYTES
    parts.push({ use: 'reading-pictures', bytes: reading })
  }
  return parts.map(({ use, bytes }) => ({ use, bytes: Math.ceil(bytes) }))
}

/** Pictures of a whole conversation at most: each takes its tokens of it. */
function featureBytes({ decoder }: MemoryNeeds, { scratchBytes }: PlannedLook, context: number): number {
  return context * decoder.dim * 4 + scratchBytes
}

function leastPixels({ edge }: PlannedLook): number {
  return Math.max(edge ** 2, LEAST_PIXELS)
}

function bytesOf(parts: readonly MemoryPart[], wanted: MemoryPart['use']): number {
  return parts.find(({ use }) => use === wanted)?.bytes ?? 0
}

function totalOf(parts: readonly MemoryPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0)
}
