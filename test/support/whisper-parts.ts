/** Loads a Whisper model as `loadRecognizer` does, but on a backend of the test's. */
import type { Backend } from '../../src/backend/backend.ts'
import { createNodeFileHost } from '../../src/host/node/file-host.ts'
import type { PrecisionName } from '../../src/models/precision.ts'
import { openSpeechModel } from '../../src/speech/open-speech-model.ts'
import { loadWhisperParts } from '../../src/speech/recognition/load-whisper-recognizer.ts'
import type { WhisperParts } from '../../src/speech/recognition/recognize-window.ts'

export async function loadParts(
  backend: Backend,
  path: string,
  precision: PrecisionName,
): Promise<WhisperParts> {
  const opened = await openSpeechModel(createNodeFileHost(), path)
  try {
    const options = { precision, signal: undefined, onProgress: undefined }
    return (await loadWhisperParts(opened, backend, options)).parts
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}
