import { EngineError } from '../shared/errors.ts'

/** Containers and codecs that are told apart by their first bytes. */
export type AudioFormat = 'wav' | 'mp3' | 'mp4' | 'aac' | 'flac' | 'ogg' | 'webm' | 'aiff' | 'amr'

/** The most that `sniffAudioFormat` looks at. */
export const SNIFFED_BYTES = 12

/** What the first bytes of a file show it to be; undefined: no sound file that is known here. */
export function sniffAudioFormat(bytes: Uint8Array): AudioFormat | undefined {
  const text = (from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))
  const first = text(0, 4)
  if ((first === 'RIFF' || first === 'RF64' || first === 'BW64') && text(8, 12) === 'WAVE') return 'wav'
  if (first === 'fLaC') return 'flac'
  if (first === 'OggS') return 'ogg'
  if (text(4, 8) === 'ftyp') return 'mp4'
  if (first === '\x1a\x45\xdf\xa3') return 'webm'
  if (first === 'FORM' && /AIF[FC]/.test(text(8, 12))) return 'aiff'
  if (text(0, 5) === '#!AMR') return 'amr'
  if (text(0, 3) === 'ID3') return 'mp3'
  // Eleven bits of synchronisation, then version and layer: 1 to 3 for MPEG audio layers, 0 for AAC in ADTS.
  const [a = 0, b = 0] = bytes
  if (a !== 0xff || (b & 0xe0) !== 0xe0) return undefined
  if ((b & 0xf6) === 0xf0) return 'aac'
  return (b & 0x06) !== 0 && (b & 0x18) !== 0x08 ? 'mp3' : undefined
}

/** How people call a format. */
export const AUDIO_FORMAT_NAMES: Readonly<Record<AudioFormat, string>> = {
  wav: 'WAV',
  mp3: 'MP3',
  mp4: 'MP4 or M4A',
  aac: 'AAC',
  flac: 'FLAC',
  ogg: 'Ogg',
  webm: 'WebM',
  aiff: 'AIFF',
  amr: 'AMR',
}

/** For bytes that are not what was `expected`, such as "a WAV file": says what they look like. */
export function unsupportedAudioError(bytes: Uint8Array, name: string, expected: string): EngineError {
  const format = sniffAudioFormat(bytes)
  const found =
    bytes.length === 0
      ? 'an empty file'
      : format === undefined
        ? `bytes that begin with ${hex(bytes)}`
        : `a file in ${AUDIO_FORMAT_NAMES[format]} format`
  return new EngineError('audio/unsupported-format', {
    message: `${name}: expected ${expected}, found ${found}.`,
    hint: 'Convert it to WAV first, for example with "ffmpeg -i in.mp3 -ac 1 -ar 16000 out.wav".',
  })
}

function hex(bytes: Uint8Array): string {
  return [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}
