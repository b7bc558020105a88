import { MEL_SAMPLE_RATE } from '../../audio/whisper-mel.ts'
import type { VoiceGate } from '../types.ts'

let loading: Promise<VoiceGate> | undefined

/** Seconds of speech that the voice gate finds in samples of 16 kHz. It is loaded at the first call. */
export async function measureSpeech(samples: Float32Array): Promise<number> {
  loading ??= import('../vad/voice-gate.ts').then(({ createVoiceGate }) => createVoiceGate())
  const gate = await loading
  gate.reset()
  let count = 0
  for (const event of [...gate.push(samples), ...gate.finish()])
    if (event.type === 'speech-ended') count += event.end - event.start
  return count / MEL_SAMPLE_RATE
}
