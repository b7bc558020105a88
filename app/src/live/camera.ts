/**
 * The camera of a page: opened on request, closed while nobody sees the page, opened again when the page comes back and
 * the picture is dead. Torch and zoom only where the track itself says that it has them. Knows no screen.
 */
import { type ReadonlySignal, signal } from '@preact/signals'

/** Why there is no picture. */
export type CameraProblem = 'denied' | 'none' | 'busy' | 'unsupported' | 'failed'

export interface CameraView {
  readonly stream: MediaStream
  readonly deviceId: string
  readonly hasTorch: boolean
  readonly zoom: { readonly min: number; readonly max: number; readonly step: number } | undefined
}

export type CameraState =
  | { readonly state: 'off' }
  | { readonly state: 'asking' }
  | { readonly state: 'on'; readonly view: CameraView }
  /** The page is hidden; it goes on when it is seen again. */
  | { readonly state: 'asleep' }
  | { readonly state: 'failed'; readonly problem: CameraProblem }

export interface CameraChoice {
  readonly id: string
  /** Empty where the browser does not say. */
  readonly label: string
}

/** What is used of `navigator.mediaDevices`; undefined in pages that are not secure. */
export type CameraDevices = Pick<MediaDevices, 'getUserMedia' | 'enumerateDevices'> | undefined

/** Enough for models that see 256 to 512 pixels a side, and cool on a phone. */
const WIDTH = 640
const HEIGHT = 480
const FRAMES_PER_SECOND = 10

export class Camera {
  readonly #devices: CameraDevices
  readonly #state = signal<CameraState>({ state: 'off' })
  readonly #choices = signal<readonly CameraChoice[]>([])
  readonly #torch = signal(false)
  readonly #zoom = signal(1)
  #deviceId: string | undefined
  #isWanted = false
  #isHidden = false
  /** Of the newest opening; what comes of older ones is closed. */
  #turn = 0

  readonly state: ReadonlySignal<CameraState> = this.#state
  /** Known once one was opened. */
  readonly choices: ReadonlySignal<readonly CameraChoice[]> = this.#choices
  readonly torch: ReadonlySignal<boolean> = this.#torch
  readonly zoom: ReadonlySignal<number> = this.#zoom

  constructor(devices: CameraDevices) {
    this.#devices = devices
  }

  /** Asks for permission at the first call, so call it when somebody pressed a button. Failures become states. */
  async start(): Promise<void> {
    this.#isWanted = true
    await this.#open()
  }

  stop(): void {
    this.#isWanted = false
    this.#close()
    this.#state.value = { state: 'off' }
  }

  /** Another camera, by its id of `choices`. */
  async choose(deviceId: string): Promise<void> {
    this.#deviceId = deviceId
    if (this.#isWanted && !this.#isHidden) await this.#open()
  }

  /** The page is hidden: the light of the camera goes out. */
  sleep(): void {
    this.#isHidden = true
    if (!this.#isWanted) return
    this.#close()
    this.#state.value = { state: 'asleep' }
  }

  /** The page is seen again, or may be: iPhones come back without saying so. Only a dead or muted picture is replaced. */
  async wake(): Promise<void> {
    this.#isHidden = false
    if (!this.#isWanted) return
    const { value } = this.#state
    if (value.state === 'asking' || (value.state === 'on' && isAlive(value.view.stream))) return
    // Who refused is not asked again by coming back.
    if (value.state === 'failed' && value.problem === 'denied') return
    await this.#open()
  }

  /** Does nothing where the track refuses. */
  async setTorch(isOn: boolean): Promise<void> {
    if (await this.#apply({ torch: isOn } as MediaTrackConstraintSet)) this.#torch.value = isOn
  }

  async setZoom(zoom: number): Promise<void> {
    if (await this.#apply({ zoom } as MediaTrackConstraintSet)) this.#zoom.value = zoom
  }

  async #apply(constraints: MediaTrackConstraintSet): Promise<boolean> {
    const { value } = this.#state
    const track = value.state === 'on' ? value.view.stream.getVideoTracks()[0] : undefined
    if (!track) return false
    try {
      await track.applyConstraints({ advanced: [constraints] })
      return true
    } catch {
      return false
    }
  }

  async #open(): Promise<void> {
    const turn = ++this.#turn
    this.#close()
    if (!this.#devices?.getUserMedia) {
      this.#state.value = { state: 'failed', problem: 'unsupported' }
      return
    }
    this.#state.value = { state: 'asking' }
    try {
      const stream = await this.#devices.getUserMedia({ audio: false, video: this.#wanted })
      if (turn !== this.#turn || !this.#isWanted || this.#isHidden) {
        stopTracks(stream)
        return
      }
      this.#show(stream, turn)
      await this.#list()
    } catch (error) {
      if (turn !== this.#turn || !this.#isWanted) return
      // A camera that was chosen once may be gone: any other is better than none.
      if (this.#deviceId !== undefined && problemOf(error) === 'none') {
        this.#deviceId = undefined
        await this.#open()
        return
      }
      this.#state.value = { state: 'failed', problem: problemOf(error) }
    }
  }

  get #wanted(): MediaTrackConstraints {
    return {
      width: { ideal: WIDTH },
      height: { ideal: HEIGHT },
      frameRate: { ideal: FRAMES_PER_SECOND },
      ...(this.#deviceId === undefined
        ? { facingMode: { ideal: 'environment' } }
        : { deviceId: { exact: this.#deviceId } }),
    }
  }

  #show(stream: MediaStream, turn: number): void {
    const track = stream.getVideoTracks()[0]
    const capabilities = (track?.getCapabilities?.() ?? {}) as {
      readonly torch?: boolean
      readonly zoom?: { readonly min?: number; readonly max?: number; readonly step?: number }
    }
    const { min = 1, max = 1, step = 0.1 } = capabilities.zoom ?? {}
    this.#torch.value = false
    this.#zoom.value = min
    this.#state.value = {
      state: 'on',
      view: {
        stream,
        deviceId: track?.getSettings().deviceId ?? '',
        hasTorch: capabilities.torch === true,
        zoom: max > min ? { min, max, step } : undefined,
      },
    }
    track?.addEventListener('ended', () => {
      if (turn !== this.#turn || !this.#isWanted || this.#isHidden) return
      this.#close()
      this.#state.value = { state: 'failed', problem: 'none' }
    })
  }

  /** Names are given only once the camera was allowed. */
  async #list(): Promise<void> {
    const devices = (await this.#devices?.enumerateDevices?.()) ?? []
    this.#choices.value = devices
      .filter(({ kind }) => kind === 'videoinput')
      .map(({ deviceId, label }) => ({ id: deviceId, label }))
  }

  #close(): void {
    const { value } = this.#state
    if (value.state === 'on') stopTracks(value.view.stream)
    this.#torch.value = false
  }
}

/** A fresh track of an iPhone may be there, and stay black. */
function isAlive(stream: MediaStream): boolean {
  const track = stream.getVideoTracks()[0]
  return track !== undefined && track.readyState === 'live' && !track.muted
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

function problemOf(error: unknown): CameraProblem {
  switch ((error as DOMException | undefined)?.name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'denied'
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'none'
    case 'NotReadableError':
    case 'AbortError':
      return 'busy'
    default:
      return 'failed'
  }
}
