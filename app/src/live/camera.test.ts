import { expect, test } from 'vitest'
import { Camera, type CameraDevices } from './camera.ts'

class FakeTrack extends EventTarget {
  readyState: 'live' | 'ended' = 'live'
  muted = false
  readonly applied: unknown[] = []
  refuses = false
  readonly #capabilities: object
  constructor(capabilities: object = {}) {
    super()
    this.#capabilities = capabilities
  }
  stop(): void {
    this.readyState = 'ended'
  }
  getCapabilities(): object {
    return this.#capabilities
  }
  getSettings(): object {
    return { deviceId: 'rear' }
  }
  async applyConstraints({ advanced }: { advanced: unknown[] }): Promise<void> {
    if (this.refuses) throw new DOMException('', 'OverconstrainedError')
    this.applied.push(...advanced)
  }
}

interface Fake {
  readonly devices: NonNullable<CameraDevices>
  readonly tracks: FakeTrack[]
  readonly asked: MediaTrackConstraints[]
}

/** @param answer What an opening gives, by its number. */
function fakeDevices(
  answer: (call: number) => FakeTrack | string | Promise<FakeTrack> = () => new FakeTrack(),
): Fake {
  const tracks: FakeTrack[] = []
  const asked: MediaTrackConstraints[] = []
  const devices = {
    async getUserMedia({ video }: MediaStreamConstraints) {
      asked.push(video as MediaTrackConstraints)
      const given = await answer(asked.length - 1)
      if (typeof given === 'string') throw new DOMException('', given)
      tracks.push(given)
      return { getTracks: () => [given], getVideoTracks: () => [given] }
    },
    enumerateDevices: async () => [
      { kind: 'videoinput', deviceId: 'rear', label: 'Back camera' },
      { kind: 'audioinput', deviceId: 'mic', label: 'Microphone' },
      { kind: 'videoinput', deviceId: 'front', label: 'Front camera' },
    ],
  }
  return { devices: devices as unknown as NonNullable<CameraDevices>, tracks, asked }
}

test('asks for a small picture of the camera at the back, ten times a second', async () => {
  const { devices, asked } = fakeDevices()
  const camera = new Camera(devices)
  expect(camera.state.value).toEqual({ state: 'off' })
  const started = camera.start()
  expect(camera.state.value).toEqual({ state: 'asking' })
  await started
  expect(asked).toEqual([
    {
      width: { ideal: 640 },
      height: { ideal: 480 },
      frameRate: { ideal: 10 },
      facingMode: { ideal: 'environment' },
    },
  ])
  expect(camera.state.value).toMatchObject({ state: 'on', view: { hasTorch: false, zoom: undefined } })
  expect(camera.choices.value).toEqual([
    { id: 'rear', label: 'Back camera' },
    { id: 'front', label: 'Front camera' },
  ])
})

test.each([
  ['NotAllowedError', 'denied'],
  ['NotFoundError', 'none'],
  ['NotReadableError', 'busy'],
  ['TypeError', 'failed'],
])('%s is told as %s', async (name, problem) => {
  const camera = new Camera(fakeDevices(() => name).devices)
  await camera.start()
  expect(camera.state.value).toEqual({ state: 'failed', problem })
})

test('pages that are not secure have no cameras', async () => {
  const camera = new Camera(undefined)
  await camera.start()
  expect(camera.state.value).toEqual({ state: 'failed', problem: 'unsupported' })
})

test('torch and zoom come from the track, and stay as they were where it refuses', async () => {
  const track = new FakeTrack({ torch: true, zoom: { min: 1, max: 5, step: 0.5 } })
  const camera = new Camera(fakeDevices(() => track).devices)
  await camera.start()
  expect(camera.state.value).toMatchObject({ view: { hasTorch: true, zoom: { min: 1, max: 5, step: 0.5 } } })
  await camera.setTorch(true)
  await camera.setZoom(2)
  expect([track.applied, camera.torch.value, camera.zoom.value]).toEqual([
    [{ torch: true }, { zoom: 2 }],
    true,
    2,
  ])
  track.refuses = true
  await camera.setTorch(false)
  expect(camera.torch.value).toBe(true)
})

test('a hidden page has no open camera, and opens it again when it is seen', async () => {
  const { devices, tracks } = fakeDevices()
  const camera = new Camera(devices)
  await camera.start()
  camera.sleep()
  expect([tracks[0]?.readyState, camera.state.value.state]).toEqual(['ended', 'asleep'])
  await camera.wake()
  expect([tracks.length, camera.state.value.state]).toEqual([2, 'on'])
  // Nobody wants it any more.
  camera.stop()
  camera.sleep()
  await camera.wake()
  expect([tracks.length, camera.state.value.state]).toEqual([2, 'off'])
})

test('coming back replaces a picture that is dead or muted, and no other', async () => {
  const { devices, tracks } = fakeDevices()
  const camera = new Camera(devices)
  await camera.start()
  await camera.wake()
  expect(tracks).toHaveLength(1)
  ;(tracks[0] as FakeTrack).muted = true
  await camera.wake()
  expect([tracks.length, tracks[0]?.readyState]).toEqual([2, 'ended'])
  ;(tracks[1] as FakeTrack).readyState = 'ended'
  await camera.wake()
  expect(tracks).toHaveLength(3)
})

test('who refused is not asked again by coming back, but by the button', async () => {
  const { devices, asked } = fakeDevices((call) => (call === 0 ? 'NotAllowedError' : new FakeTrack()))
  const camera = new Camera(devices)
  await camera.start()
  await camera.wake()
  expect(asked).toHaveLength(1)
  await camera.start()
  expect(camera.state.value.state).toBe('on')
})

test('permission that comes too late opens nothing', async () => {
  let allow: (track: FakeTrack) => void = () => {}
  const { devices, tracks } = fakeDevices(
    () =>
      new Promise((resolve) => {
        allow = resolve
      }),
  )
  const camera = new Camera(devices)
  const started = camera.start()
  camera.stop()
  allow(new FakeTrack())
  await started
  expect([tracks[0]?.readyState, camera.state.value.state]).toEqual(['ended', 'off'])
})

test('a chosen camera that is gone gives way to any other; one that goes away is told', async () => {
  const { devices, asked, tracks } = fakeDevices((call) =>
    call === 1 ? 'OverconstrainedError' : new FakeTrack(),
  )
  const camera = new Camera(devices)
  await camera.start()
  await camera.choose('front')
  expect(asked.slice(1).map(({ deviceId, facingMode }) => deviceId ?? facingMode)).toEqual([
    { exact: 'front' },
    { ideal: 'environment' },
  ])
  expect(camera.state.value.state).toBe('on')
  tracks.at(-1)?.dispatchEvent(new Event('ended'))
  expect(camera.state.value).toEqual({ state: 'failed', problem: 'none' })
})
