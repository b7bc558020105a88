/** What plays sound on this machine: an optional package, or a program of the system. */
import { EngineError } from '../../../shared/errors.ts'
import type { AudioPlayer } from '../../../speech/types.ts'
import { type AudioOutputModule, DevicePlayer } from './device-player.ts'
import { FilePlayer } from './file-player.ts'
import { findCommand, type ProgramHost } from './find-command.ts'
import { importOptional } from './import-optional.ts'
import { PipePlayer } from './pipe-player.ts'
import { playPrograms } from './play-programs.ts'

export interface AudioPlayerOptions {
  readonly host?: ProgramHost
  readonly importPackage?: (name: string) => Promise<unknown>
}

const PACKAGE = '@echogarden/audio-io'

/** @throws EngineError `audio/no-player` that names what to install. */
export async function createAudioPlayer({
  host = process,
  importPackage = importOptional,
}: AudioPlayerOptions = {}): Promise<AudioPlayer> {
  const module = (await importPackage(PACKAGE)) as AudioOutputModule | undefined
  if (module) return new DevicePlayer(module)
  for (const program of playPrograms(host)) {
    const command = findCommand(program.names, host)
    if (command === undefined) continue
    return program.source === 'pipe'
      ? new PipePlayer(program, command, host)
      : new FilePlayer(program, command, host)
  }
  throw new EngineError('audio/no-player', {
    message: 'Nothing on this machine plays sound: no player was found on the path.',
    hint: `Install ${host.platform === 'linux' ? 'alsa-utils, pulseaudio-utils or ffmpeg' : 'ffmpeg'}, or: npm install ${PACKAGE}. A file can always be written: onsight say --out answer.wav`,
  })
}
