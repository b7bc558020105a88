/** Microphones of this machine: an optional package, or a program of the system. */
import { PcmDecoder } from '../../../audio/pcm.ts'
import { EngineError } from '../../../shared/errors.ts'
import type { Microphone } from '../../../speech/types.ts'
import { findCommand, type ProgramHost } from './find-command.ts'
import { frames } from './frames.ts'
import { importOptional } from './import-optional.ts'
import { recordPrograms } from './record-programs.ts'
import { failure, startProgram, stopProgram } from './run-program.ts'

export interface MicrophoneOptions {
  /** As the system calls it. Default: the one that the person chose there. */
  readonly device?: string
  readonly host?: ProgramHost
  readonly importPackage?: (name: string) => Promise<unknown>
}

/** What is used of `@picovoice/pvrecorder-node`. */
interface RecorderModule {
  readonly PvRecorder: {
    new (
      frameLength: number,
      deviceIndex?: number,
    ): {
      start(): void
      stop(): void
      release(): void
      read(): Promise<Int16Array>
      getSelectedDevice(): string
    }
    getAvailableDevices(): string[]
  }
}

const PACKAGE = '@picovoice/pvrecorder-node'
const FRAME = 512

/** @throws EngineError `audio/no-recorder` that names what to install; `audio/no-device` for an unknown device. */
export async function findMicrophone({
  device,
  host = process,
  importPackage = importOptional,
}: MicrophoneOptions = {}): Promise<Microphone> {
  const module = (await importPackage(PACKAGE)) as RecorderModule | undefined
  if (module?.PvRecorder) return recorderMicrophone(module, device)
  for (const program of recordPrograms(host, device)) {
    const command = findCommand(program.names, host)
    if (command !== undefined) return programMicrophone(command, program.args(device), host, device)
  }
  throw new EngineError('audio/no-recorder', {
    message: 'Nothing on this machine records sound: no recorder was found on the path.',
    hint: `Install ${host.platform === 'linux' ? 'alsa-utils, pulseaudio-utils or sox' : 'sox'}, or: npm install ${PACKAGE}. A file can be given instead: --input question.wav`,
  })
}

function recorderMicrophone({ PvRecorder }: RecorderModule, device: string | undefined): Microphone {
  const devices = PvRecorder.getAvailableDevices()
  const index = device === undefined ? -1 : devices.indexOf(device)
  if (device !== undefined && index < 0) {
    throw new EngineError('audio/no-device', {
      message: `There is no microphone ${JSON.stringify(device)}; there are ${devices.join(', ') || 'none'}.`,
    })
  }
  return {
    name: device ?? devices[0] ?? 'default',
    kind: 'device',
    async *open(signal) {
      const recorder = new PvRecorder(FRAME, index)
      try {
        recorder.start()
        while (!signal.aborted) yield Float32Array.from(await recorder.read(), (sample) => sample / 0x8000)
      } finally {
        recorder.stop()
        recorder.release()
      }
    },
  }
}

function programMicrophone(
  command: string,
  args: readonly string[],
  host: ProgramHost,
  device: string | undefined,
): Microphone {
  return {
    name: device ?? 'default',
    kind: 'device',
    async *open(signal) {
      const child = startProgram({ command, args, env: host.env })
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString()).slice(-1000)
      })
      const ended = new Promise<number | null>((resolve, reject) => {
        child.on('error', (cause) => reject(failure({ command }, cause.message, cause)))
        child.on('close', resolve)
      })
      ended.catch(() => {})
      const stop = (): void => stopProgram(child)
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      try {
        yield* frames(decode(child.stdout), FRAME)
        const code = await ended
        if (!signal.aborted) throw failure({ command }, stderr.trim() || `it ended with code ${code}`)
      } finally {
        signal.removeEventListener('abort', stop)
        stop()
      }
    },
  }
}

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Float32Array> {
  const decoder = new PcmDecoder({ encoding: 's16le', channels: 1 })
  for await (const chunk of bytes) yield decoder.push(chunk)
}
