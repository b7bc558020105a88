/**
 * The voice that says answers: one of the system's that speaks on this device, or a stored one. Which one goes by the
 * settings; it is made when it is first needed, and made anew when they change.
 */
import {
  createAudioPlayer,
  createPlatformSpeaker,
  createVoiceSpeaker,
  listPlatformVoices,
  type Speaker,
  type Voice,
} from 'onsight/speech'
import { settings } from '../settings/settings.ts'

export const PLATFORM_PREFIX = 'platform:'

/** Where stored voices come from. Undefined: there is none of that name. */
export type StoredVoices = (name: string) => Promise<Voice | undefined>

let storedVoices: StoredVoices = async () => undefined
let current: { readonly setting: string; readonly speaker: Promise<Speaker> } | undefined

export function setStoredVoices(load: StoredVoices): void {
  storedVoices = load
}

/** @throws EngineError `speech/no-voice` where nothing on this device speaks. */
export function ownVoice(): Promise<Speaker> {
  const setting = settings.voice.value
  if (current?.setting !== setting) {
    const before = current
    const speaker = makeSpeaker(setting)
    current = { setting, speaker }
    // What could not be made is tried again with the next answer: a voice may have been stored meanwhile.
    speaker.catch(() => {
      if (current?.speaker === speaker) current = undefined
    })
    void before?.speaker.then((old) => old.dispose()).catch(() => {})
  }
  return current.speaker
}

async function makeSpeaker(setting: string): Promise<Speaker> {
  if (setting.startsWith(PLATFORM_PREFIX)) return namedSpeaker(setting.slice(PLATFORM_PREFIX.length))
  const stored = setting === '' ? undefined : await storedVoices(setting)
  if (stored) return createVoiceSpeaker(stored, createAudioPlayer())
  return createPlatformSpeaker()
}

/** Voices of the system come and go with updates: another one is better than none. */
async function namedSpeaker(voice: string): Promise<Speaker> {
  const isThere = (await listPlatformVoices()).some(({ name }) => name === voice)
  return createPlatformSpeaker(isThere ? { voice } : {})
}
