/** The voice that an option names: a model's folder or file, or a voice of the system. */
import { existsSync } from 'node:fs'
import type { Speaker, Voice } from '../speech/types.ts'
import type { CommandContext, SpeechLibrary } from './context.ts'
import { untilAborted } from './interrupts.ts'
import type { Terminal } from './terminal.ts'

/** Paths and files are models; all else names a voice of the system. */
function isModel(reference: string | undefined): reference is string {
  return reference !== undefined && (/[\\/]|\.onnx$|\.safetensors$/i.test(reference) || existsSync(reference))
}

/** A voice that makes samples. */
export async function openVoice(
  context: CommandContext,
  terminal: Terminal,
  library: SpeechLibrary,
  reference: string | undefined,
): Promise<Voice> {
  if (!isModel(reference)) {
    return library.createPlatformVoice(reference === undefined ? {} : { voice: reference })
  }
  const { signal } = context.interrupts
  const voice = library.loadVoice(reference, {
    signal,
    onProgress: ({ loadedBytes, totalBytes }) =>
      terminal.progress.show(terminal.messages.loading, loadedBytes, totalBytes),
  })
  const loaded = await untilAborted(voice, signal)
  terminal.progress.clear()
  return loaded
}

/** A voice that speaks. */
export async function openSpeaker(
  context: CommandContext,
  terminal: Terminal,
  library: SpeechLibrary,
  reference: string | undefined,
): Promise<Speaker> {
  if (!isModel(reference)) {
    return library.createPlatformSpeaker(reference === undefined ? {} : { voice: reference })
  }
  const player = await library.createAudioPlayer()
  const voice = await openVoice(context, terminal, library, reference)
  const { createVoiceSpeaker } = await import('../speech/voice-speaker.ts')
  const speaker = createVoiceSpeaker(voice, player)
  return {
    name: speaker.name,
    languages: speaker.languages,
    say: (text, options) => speaker.say(text, options),
    level: () => speaker.level?.() ?? 0,
    async dispose() {
      await speaker.dispose()
      await Promise.all([player.dispose(), voice.dispose()])
    },
  }
}
