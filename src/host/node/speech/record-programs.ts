/** Programs that record: mono samples of 16 bits at 16 kHz on standard output. */
import type { ProgramHost } from './find-command.ts'

export interface RecordProgram {
  readonly names: readonly string[]
  args(device: string | undefined): readonly string[]
}

const withDevice = (flag: string, device: string | undefined): readonly string[] =>
  device === undefined ? [] : [flag, device]
const RAW = ['-t', 'raw', '-r', '16000', '-e', 'signed', '-b', '16', '-c', '1']

const LINUX: readonly RecordProgram[] = [
  {
    names: ['pacat'],
    args: (device) => [
      ...['--record', '--raw', '--rate=16000', '--channels=1', '--format=s16le', '--latency-msec=32'],
      ...(device === undefined ? [] : [`--device=${device}`]),
    ],
  },
  {
    names: ['arecord'],
    args: (device) => [
      ...['-q', '-t', 'raw', '-f', 'S16_LE', '-c', '1', '-r', '16000', '--period-size', '512'],
      ...withDevice('-D', device),
    ],
  },
]
const SOX: readonly RecordProgram[] = [
  {
    names: ['rec', 'rec.exe'],
    args: () => ['-q', '--buffer', '1024', ...RAW, '-'],
  },
]

function ffmpeg(format: string, input: (device: string | undefined) => string): RecordProgram {
  return {
    names: ['ffmpeg', 'ffmpeg.exe'],
    args: (device) => [
      ...['-loglevel', 'error', '-nostdin', '-fflags', 'nobuffer', '-f', format, '-i', input(device)],
      ...['-ac', '1', '-ar', '16000', '-f', 's16le', '-flush_packets', '1', 'pipe:1'],
    ],
  }
}

/** In the order in which they are tried. */
export function recordPrograms(
  { platform }: ProgramHost,
  device: string | undefined,
): readonly RecordProgram[] {
  if (platform === 'darwin') return [...SOX, ffmpeg('avfoundation', (name) => `:${name ?? 'default'}`)]
  if (platform === 'win32') {
    // ffmpeg has no default device on Windows.
    return device === undefined ? SOX : [ffmpeg('dshow', (name) => `audio=${name}`)]
  }
  return [...LINUX, ...SOX, ffmpeg('alsa', (name) => name ?? 'default')]
}
