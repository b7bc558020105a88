/** What hears and speaks, of the models on this device. */
import { signal } from '@preact/signals'
import type { Recognizer, Voice } from 'onsight/speech'
import { engine } from '../engine/app-engine.ts'
import { settings } from '../settings/settings.ts'
import { createSpeechSlot } from './speech-slot.ts'

/** The model that was chosen and could not be loaded; undefined while there is none. */
export const speechFailure = signal<{ readonly name: string; readonly error: unknown } | undefined>(undefined)

const onFailed = (name: string, error: unknown): void => {
  speechFailure.value = { name, error }
}

const recognizers = createSpeechSlot<Recognizer>({
  chosen: () => settings.recognizer.peek() || undefined,
  load: (name) => engine.loadRecognizer(`stored:${name}`),
  onFailed,
})

const voices = createSpeechSlot<Voice>({
  // Voices of the platform need no engine.
  chosen: () => {
    const name = settings.voice.peek()
    return name === '' || name.startsWith('platform:') ? undefined : name
  },
  load: (name) => engine.loadVoice(`stored:${name}`),
  onFailed,
})

engine.onEnd(() => {
  recognizers.forget()
  voices.forget()
})

export const speechModels = {
  /** The chosen one, loaded when it is first wanted; undefined where none is chosen or it could not be loaded. */
  recognizer: (): Promise<Recognizer | undefined> => recognizers.get(),
  /** The same for the voice; undefined also for voices of the platform. */
  voice: (): Promise<Voice | undefined> => voices.get(),
}
