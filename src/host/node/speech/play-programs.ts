/** Programs that play sound: from a pipe where they can, which leaves no gaps, else from files. */
import type { ProgramHost } from './find-command.ts'

export interface PlayProgram {
  readonly names: readonly string[]
  /** Mono samples of 16 bits come on standard input; or the path of a WAV file is given. */
  readonly source: 'pipe' | 'file'
  args(sampleRate: number, path: string): readonly string[]
  readonly env?: (path: string) => Readonly<Record<string, string>>
}

const LINUX: readonly PlayProgram[] = [
  {
    names: ['pacat'],
    source: 'pipe',
    args: (rate) => [
      '--playback',
      '--raw',
      `--rate=${rate}`,
      '--channels=1',
      '--format=s16le',
      '--latency-msec=100',
    ],
  },
  {
    names: ['aplay'],
    source: 'pipe',
    // By default it waits for half a second of sound before it begins.
    args: (rate) => [
      '-q',
      '-t',
      'raw',
      '-f',
      'S16_LE',
      '-c',
      '1',
      '-r',
      String(rate),
      '-B',
      '200000',
      '-R',
      '20000',
    ],
  },
]
const EVERYWHERE: readonly PlayProgram[] = [
  {
    names: ['ffplay', 'ffplay.exe'],
    source: 'pipe',
    args: (rate) => [
      ...['-loglevel', 'error', '-nodisp', '-autoexit', '-fflags', 'nobuffer', '-probesize', '32'],
      ...['-f', 's16le', '-ar', String(rate), '-i', 'pipe:0'],
    ],
  },
  {
    names: ['play', 'play.exe'],
    source: 'pipe',
    args: (rate) => ['-q', '-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1', '-r', String(rate), '-'],
  },
]
const MACOS: readonly PlayProgram[] = [{ names: ['afplay'], source: 'file', args: (_, path) => [path] }]
const WINDOWS: readonly PlayProgram[] = [
  {
    names: ['powershell.exe'],
    source: 'file',
    args: () => [
      ...['-NoProfile', '-NonInteractive', '-Command'],
      '(New-Object Media.SoundPlayer $env:ONSIGHT_WAVE).PlaySync()',
    ],
    env: (path) => ({ ONSIGHT_WAVE: path }),
  },
]

/** In the order in which they are tried: pipes first. */
export function playPrograms({ platform }: ProgramHost): readonly PlayProgram[] {
  if (platform === 'darwin') return [...EVERYWHERE, ...MACOS]
  if (platform === 'win32') return [...EVERYWHERE, ...WINDOWS]
  return [...LINUX, ...EVERYWHERE]
}
