/** The microphone of a page: opened while it is listened to, closed when not. */
import { Resampler } from '../../../audio/resampler.ts'
import { EngineError } from '../../../shared/errors.ts'
import type { Microphone } from '../../../speech/types.ts'

export interface BrowserMicrophoneOptions {
  /** Id of a device, as `enumerateDevices` gives it. Default: the one that the person chose. */
  readonly deviceId?: string
}

const SAMPLE_RATE = 16_000
const FRAME = 512
/** Of a page that listens too slowly: 30 s. */
const MAX_LATE_FRAMES = (30 * SAMPLE_RATE) / FRAME

/** Asks for permission when it is opened first. Echo and noise are left to the browser as far as it can. */
export function createMicrophone({ deviceId }: BrowserMicrophoneOptions = {}): Microphone {
  return {
    name: deviceId ?? 'default',
    kind: 'device',
    open: (signal) => capture(deviceId, signal),
  }
}

async function* capture(deviceId: string | undefined, signal: AbortSignal): AsyncGenerator<Float32Array> {
  const stream = await openStream(deviceId)
  const stopTracks = (): void => {
    for (const track of stream.getTracks()) track.stop()
  }
  // The context has the device's own rate: another one fails in Firefox.
  const context = new AudioContext()
  const frames: Float32Array[] = []
  let isGone = false
  let wake: (() => void) | undefined
  const onEnd = (): void => {
    isGone = true
    wake?.()
  }
  const onAbort = (): void => wake?.()
  try {
    if (signal.aborted) return
    await context.audioWorklet.addModule(new URL('./capture-worklet.js', import.meta.url))
    await context.resume()
    const node = new AudioWorkletNode(context, 'onsight-capture', { numberOfOutputs: 0, channelCount: 1 })
    const cutter = new FrameCutter(context.sampleRate)
    node.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
      frames.push(...cutter.push(data))
      if (frames.length > MAX_LATE_FRAMES) frames.splice(0, frames.length - MAX_LATE_FRAMES)
      wake?.()
    }
    context.createMediaStreamSource(stream).connect(node)
    for (const track of stream.getTracks()) track.addEventListener('ended', onEnd)
    signal.addEventListener('abort', onAbort)
    while (!signal.aborted) {
      const frame = frames.shift()
      if (frame) yield frame
      else if (isGone) throw new Error('the device ended')
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    stopTracks()
    await context.close()
  }
}

async function openStream(deviceId: string | undefined): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        channelCount: 1,
        echoCancellation: true,
        noiseSuppression: true,
        autoGainControl: true,
        ...(deviceId !== undefined && { deviceId: { exact: deviceId } }),
      },
    })
  } catch (cause) {
    const name = (cause as DOMException | undefined)?.name
    throw new EngineError(name === 'NotAllowedError' ? 'audio/not-allowed' : 'audio/no-device', {
      message:
        name === 'NotAllowedError'
          ? 'This page may not use the microphone.'
          : `The microphone could not be opened (${name ?? 'no access to devices'}).`,
      hint:
        name === 'NotAllowedError'
          ? 'Allow it in the settings of the page.'
          : 'Plug one in; pages need https or localhost to use it.',
      cause,
    })
  }
}

/** Samples of any rate in frames of 16 kHz. */
class FrameCutter {
  readonly #resampler: Resampler
  #frame = new Float32Array(FRAME)
  #filled = 0

  constructor(sampleRate: number) {
    this.#resampler = new Resampler(sampleRate, SAMPLE_RATE)
  }

  push(samples: Float32Array): Float32Array[] {
    const frames: Float32Array[] = []
    const heard = this.#resampler.push(samples)
    for (let at = 0; at < heard.length; ) {
      const part = heard.subarray(at, at + FRAME - this.#filled)
      this.#frame.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled < FRAME) break
      frames.push(this.#frame)
      this.#frame = new Float32Array(FRAME)
      this.#filled = 0
    }
    return frames
  }
}
