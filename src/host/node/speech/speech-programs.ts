/** The voices that systems come with, as programs: how each is told what to say, to play it or to write it to a file. */

export interface PlatformVoice {
  /** What `voice` takes. */
  readonly name: string
  /** BCP 47. */
  readonly language: string
}

export interface SpeechRequest {
  /** Undefined: the one that the person chose in the system. */
  readonly voice: string | undefined
  /** One of a listed voice. */
  readonly language: string
  readonly rate: number
  readonly pitch: number
}

export interface ProgramCall {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface SpeechProgram {
  readonly names: readonly string[]
  /** Text comes on standard input. */
  speak(request: SpeechRequest): ProgramCall
  /** Writes a WAV file instead of playing. Undefined where it cannot. */
  readonly write?: (request: SpeechRequest, path: string) => ProgramCall
  readonly list: ProgramCall
  parseList(text: string): PlatformVoice[]
  /** Silences what it began in another process. */
  readonly stop?: ProgramCall
  /** It is told a language and finds a voice itself; others are told a voice. */
  readonly takesLanguage: boolean
  /** Whether it reads Chinese characters at all. */
  readonly readsChinese: boolean
}

const clamp = (value: number, least: number, most: number): string =>
  String(Math.round(Math.min(most, Math.max(least, value))))

/** Words a minute at rate 1, as both programs have it. */
const WORDS_PER_MINUTE = 175

const say: SpeechProgram = {
  names: ['say'],
  speak: ({ voice, rate }) => ({
    args: [
      ...(voice === undefined ? [] : ['-v', voice]),
      '-r',
      clamp(WORDS_PER_MINUTE * rate, 80, 500),
      '-f',
      '-',
    ],
  }),
  write: (request, path) => ({
    args: [...say.speak(request).args, '-o', path, '--file-format=WAVE', '--data-format=LEI16@22050'],
  }),
  list: { args: ['-v', '?'] },
  // "Alex                en_US    # Most people recognize me by my voice."
  parseList: (text) =>
    [...text.matchAll(/^(.+?)\s+([a-z]{2,3}[_-]\w+)\s+#/gm)].map(([, name = '', language = '']) => ({
      name,
      language: language.replace('_', '-'),
    })),
  takesLanguage: false,
  readsChinese: true,
}

const espeak: SpeechProgram = {
  names: ['espeak-ng'],
  // Each of its voices has a language of its own, which is its name, too.
  speak: ({ language, rate, pitch }) => ({
    args: [
      '--stdin',
      '-b',
      '1',
      '-v',
      language,
      '-s',
      clamp(WORDS_PER_MINUTE * rate, 80, 450),
      '-p',
      clamp(50 * pitch, 0, 99),
    ],
  }),
  write: (request, path) => ({ args: [...espeak.speak(request).args, '-w', path] }),
  list: { args: ['--voices'] },
  // " 5  en-us           --/M      English_(America)  gmw/en-US            (en 3)"
  parseList: (text) =>
    [...text.matchAll(/^\s*\d+\s+([a-z][\w-]*)\s+\S+\s+(\S+)/gm)].map(([, language = '', name = '']) => ({
      name: name.replaceAll('_', ' '),
      language,
    })),
  takesLanguage: true,
  // It spells them in English.
  readsChinese: false,
}

const speechDispatcher: SpeechProgram = {
  names: ['spd-say'],
  speak: ({ voice, language, rate, pitch }) => ({
    args: [
      '--wait',
      '--pipe-mode',
      '--language',
      language,
      ...(voice === undefined ? [] : ['--synthesis-voice', voice]),
      '--rate',
      clamp(100 * (rate - 1), -100, 100),
      '--pitch',
      clamp(100 * (pitch - 1), -100, 100),
    ],
  }),
  list: { args: ['--list-synthesis-voices'] },
  // "  English (America)           en-US            none"
  parseList: (text) =>
    [...text.matchAll(/^\s*(\S.*?)\s{2,}([a-z]{2,3}(?:-\w+)?)\s+\S+\s*$/gm)].map(
      ([, name = '', language = '']) => ({
        name,
        language,
      }),
    ),
  stop: { args: ['--cancel'] },
  takesLanguage: true,
  readsChinese: true,
}

/** Windows PowerShell, which has System.Speech; scripts are constant, everything else comes by environment and pipe. */
function powershell(script: string): readonly string[] {
  const encoded = Buffer.from(script, 'utf16le').toString('base64')
  return ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-EncodedCommand', encoded]
}

const SPEAK_SCRIPT = `
$ErrorActionPreference = 'Stop'
$reader = New-Object IO.StreamReader([Console]::OpenStandardInput(), [Text.Encoding]::UTF8)
$text = $reader.ReadToEnd()
Add-Type -AssemblyName System.Speech
$speech = New-Object System.Speech.Synthesis.SpeechSynthesizer
if ($env:ONSIGHT_VOICE) { $speech.SelectVoice($env:ONSIGHT_VOICE) }
$speech.Rate = [int]$env:ONSIGHT_RATE
if ($env:ONSIGHT_WAVE) { $speech.SetOutputToWaveFile($env:ONSIGHT_WAVE) }
$speech.Speak($text)
$speech.Dispose()
`
const LIST_SCRIPT = `
[Console]::OutputEncoding = [Text.Encoding]::UTF8
Add-Type -AssemblyName System.Speech
$speech = New-Object System.Speech.Synthesis.SpeechSynthesizer
$speech.GetInstalledVoices() | Where-Object { $_.Enabled } |
  ForEach-Object { $_.VoiceInfo.Name + [char]9 + $_.VoiceInfo.Culture.Name }
`

const systemSpeech: SpeechProgram = {
  names: ['powershell.exe'],
  speak: ({ voice, rate }) => ({
    args: powershell(SPEAK_SCRIPT),
    // Ten steps up are three times as fast.
    env: {
      ONSIGHT_RATE: clamp((10 * Math.log(rate)) / Math.log(3), -10, 10),
      ONSIGHT_VOICE: voice ?? '',
      ONSIGHT_WAVE: '',
    },
  }),
  write: (request, path) => {
    const { args, env } = systemSpeech.speak(request)
    return { args, env: { ...env, ONSIGHT_WAVE: path } }
  },
  list: { args: powershell(LIST_SCRIPT) },
  parseList: (text) =>
    [...text.matchAll(/^(.+)\t([\w-]+)\r?$/gm)].map(([, name = '', language = '']) => ({ name, language })),
  takesLanguage: false,
  readsChinese: true,
}

/** In the order in which they are tried. */
export function speechPrograms(platform: NodeJS.Platform): readonly SpeechProgram[] {
  if (platform === 'darwin') return [say]
  if (platform === 'win32') return [systemSpeech]
  return [speechDispatcher, espeak]
}
