/** Says answers with our voice, in place of the screen reader: `settings.announcing` is `own-voice`. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { type AnswerSpeaker, createAnswerSpeaker } from 'onsight/speech'
import type { AnswerAnnouncement } from '../announcer/announcer.ts'
import { settings } from '../settings/settings.ts'
import { ownVoice } from './own-voice.ts'

const speaking = signal(false)
/** Whether an answer is being said: a button that silences it belongs on the screen. */
export const isSpeaking: ReadonlySignal<boolean> = speaking

let silence: (() => void) | undefined

/** Silences the answer that is being said. Its text stays. */
export function stopSpeaking(): void {
  silence?.()
}

/** An answer that is said while it comes. One at a time: a new one silences the one before. */
export function createSpokenAnswer(language?: string): AnswerAnnouncement {
  stopSpeaking()
  // Text that comes before the voice is ready waits here.
  let early = ''
  let isEnded = false
  let isSilenced = false
  let voice: AnswerSpeaker | undefined
  const stop = (): void => {
    isSilenced = true
    voice?.stop()
    end()
  }
  const end = (): void => {
    if (silence !== stop) return
    silence = undefined
    speaking.value = false
  }
  silence = stop
  speaking.value = true
  void ownVoice().then(
    (speaker) => {
      if (isSilenced) return
      voice = createAnswerSpeaker({
        speaker,
        rate: settings.rate.value,
        ...(language !== undefined && { language }),
      })
      voice.push(early)
      if (isEnded) void voice.finish().then(end)
    },
    // Nothing on this device speaks: the text is on the screen, and the settings say why it is silent.
    end,
  )
  return {
    push(delta) {
      if (voice) voice.push(delta)
      else early += delta
    },
    finish(outcome) {
      isEnded = true
      if (outcome === 'stopped') stop()
      else void voice?.finish().then(end)
    },
  }
}
