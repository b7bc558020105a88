import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeWav } from '../../../audio/encode-wav.ts'
import { chooseVoice, localeOf } from './choose-voice.ts'
import { FakePrograms } from './fake-programs.case.ts'
import { findCommand } from './find-command.ts'
import { createPlatformSpeaker, createPlatformVoice, listPlatformVoices } from './platform-voice.ts'

const ESPEAK_VOICES = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  af              --/M      Afrikaans          gmw/af
 5  cmn             --/M      Chinese_(Mandarin,_latin_as_English) sit/cmn              (zh-cmn 5)(zh 5)
 5  en-029          --/M      English_(Caribbean) gmw/en-029           (en 10)
 2  en-gb           --/M      English_(Great_Britain) gmw/en               (en 2)
 5  en-us           --/M      English_(America)  gmw/en-US            (en 3)
`
const SAY_VOICES = `Albert              en_US    # Hello! My name is Albert.
Bad News            en_US    # Hello! My name is Bad News.
Daniel              en_GB    # Hello! My name is Daniel.
Eddy (Chinese (China mainland)) zh_CN    # 你好！我叫Eddy。
Samantha            en_US    # Hello! My name is Samantha.
Tingting            zh_CN    # 你好！我叫婷婷。
`
const SPD_VOICES = `                     NAME                 LANGUAGE                  VARIANT
      English (America)                    en-US                     none
      Chinese (Mandarin)                      zh                     none
`
const WINDOWS_VOICES = 'Microsoft David Desktop\ten-US\r\nMicrosoft Huihui Desktop\tzh-CN\r\n'

let programs: FakePrograms
beforeEach(() => {
  programs = new FakePrograms()
})
afterEach(() => programs.remove())

/** A program that lists voices when asked, and otherwise notes what it is to say. */
function addVoice(name: string, list: string, listFlag: string, script = ''): void {
  programs.add(
    name,
    `if (args.some((arg) => arg.startsWith(${JSON.stringify(listFlag)}))) process.stdout.write(${JSON.stringify(list)})
     else { note(input); ${script} }`,
  )
}

describe.skipIf(process.platform === 'win32')('the voice of the system', () => {
  test('eSpeak NG is told everything but the text in arguments', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices')
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    const text = 'It costs $5; rm -rf "$HOME" [[a]] `x`\u0007.'
    await speaker.say(text, { rate: 2, pitch: 0.5 })
    await speaker.say('--version', { language: 'en-gb' })
    expect(programs.notes('espeak-ng')).toMatchObject([
      {
        args: ['--stdin', '-b', '1', '-v', 'en-us', '-s', '350', '-p', '25'],
        input: 'It costs $5; rm -rf "$HOME" [a]] `x` .\n',
      },
      { args: ['--stdin', '-b', '1', '-v', 'en-gb', '-s', '175', '-p', '50'], input: '--version\n' },
    ])
    expect(speaker.languages).toEqual(['af', 'cmn', 'en-029', 'en-gb', 'en-us'])
  })

  test('eSpeak NG does not pretend to read Chinese', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices')
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    await expect(speaker.say('你好')).rejects.toMatchObject({ code: 'speech/no-voice' })
    await expect(speaker.say('hello', { language: 'zh' })).rejects.toMatchObject({ code: 'speech/no-voice' })
    await expect(speaker.say('hallo', { language: 'xx' })).rejects.toThrow(/no voice for the language "xx"/)
  })

  test('Speech Dispatcher comes first, and is told to be silent', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices')
    addVoice('spd-say', SPD_VOICES, '--list', "if (!args.includes('--cancel')) setTimeout(() => {}, 60000)")
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    const controller = new AbortController()
    const said = speaker.say('你好', { signal: controller.signal, rate: 1.5 })
    await new Promise((resolve) => setTimeout(resolve, 300))
    controller.abort()
    await expect(said).rejects.toMatchObject({ name: 'AbortError' })
    expect(programs.notes('spd-say')).toMatchObject([
      {
        args: ['--wait', '--pipe-mode', '--language', 'zh', '--rate', '50', '--pitch', '0'],
        input: '你好\n',
      },
      { args: ['--cancel'] },
    ])
  })

  test('where Speech Dispatcher does not work, eSpeak NG speaks', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices')
    programs.add('spd-say', "process.stderr.write('Failed to connect'); process.exitCode = 1")
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    expect(speaker.name).toBe('espeak-ng')
  })

  test('macOS: the voice that the person chose, or a good one of the language', async () => {
    addVoice('say', SAY_VOICES, '?')
    const speaker = await createPlatformSpeaker({ host: programs.host('darwin', { LANG: 'en_US.UTF-8' }) })
    await speaker.say('Hello')
    await speaker.say('你好', { rate: 0.5 })
    const named = await createPlatformSpeaker({ host: programs.host('darwin'), voice: 'Daniel' })
    await named.say('Hello')
    const german = await createPlatformSpeaker({ host: programs.host('darwin', { LANG: 'de_DE.UTF-8' }) })
    await german.say('Hello')
    expect(programs.notes('say').map(({ args }) => args)).toEqual([
      ['-r', '175', '-f', '-'],
      ['-v', 'Tingting', '-r', '88', '-f', '-'],
      ['-v', 'Daniel', '-r', '175', '-f', '-'],
      ['-v', 'Samantha', '-r', '175', '-f', '-'],
    ])
  })

  test('Windows: a script that never changes, all else beside it', async () => {
    programs.add(
      'powershell.exe',
      `const script = Buffer.from(args.at(-1), 'base64').toString('utf16le')
       if (script.includes('GetInstalledVoices')) process.stdout.write(${JSON.stringify(WINDOWS_VOICES)})
       else note(input)`,
    )
    const host = programs.host('win32')
    const speaker = await createPlatformSpeaker({ host })
    await speaker.say("Hello'; exit", { rate: 3 })
    await speaker.say('你好')
    const [english, chinese] = programs.notes('powershell.exe')
    expect(english?.args).toEqual(chinese?.args)
    expect(english).toMatchObject({
      input: "Hello'; exit\n",
      env: { ONSIGHT_VOICE: 'Microsoft David Desktop', ONSIGHT_RATE: '10', ONSIGHT_WAVE: '' },
    })
    expect(chinese?.env).toMatchObject({ ONSIGHT_VOICE: 'Microsoft Huihui Desktop', ONSIGHT_RATE: '0' })
    expect(await listPlatformVoices(host)).toEqual([
      { name: 'Microsoft David Desktop', language: 'en-US' },
      { name: 'Microsoft Huihui Desktop', language: 'zh-CN' },
    ])
  })

  test('texts take turns', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices', "setTimeout(() => note('end'), 100)")
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    const started: string[] = []
    const one = speaker.say('one', { onStarted: () => started.push('one') })
    const two = speaker.say('two', { onStarted: () => started.push('two') })
    await Promise.all([one, two])
    expect(programs.notes('espeak-ng').map(({ input }) => input)).toEqual(['one\n', 'end', 'two\n', 'end'])
    expect(started).toEqual(['one', 'two'])
  })

  test('stop leaves the queue: what is said ends, what waits never begins', async () => {
    // It does not listen to being asked.
    addVoice(
      'espeak-ng',
      ESPEAK_VOICES,
      '--voices',
      "process.on('SIGTERM', () => {}); setTimeout(() => {}, 60000)",
    )
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    const controller = new AbortController()
    const said = ['one', 'two'].map((text) => speaker.say(text, { signal: controller.signal }))
    await new Promise((resolve) => setTimeout(resolve, 400))
    controller.abort()
    for (const saying of said) await expect(saying).rejects.toMatchObject({ name: 'AbortError' })
    const notes = programs.notes('espeak-ng')
    expect(notes.map(({ input }) => input)).toEqual(['one\n'])
    for (const note of notes) await programs.untilGone(note)
    await speaker.dispose()
    await expect(speaker.say('three')).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('a program that fails says why', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices', "process.stderr.write('no data'); process.exitCode = 3")
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    await expect(speaker.say('Hello')).rejects.toMatchObject({
      code: 'audio/program-failed',
      message: /no data$/,
    })
    // The next is said all the same.
    await expect(speaker.say('Hello')).rejects.toThrow(/no data/)
  })

  test('silence where there is no device is a failure, though the program finds none', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices', "process.stderr.write('cannot find card 0')")
    const speaker = await createPlatformSpeaker({ host: programs.host('linux') })
    await expect(speaker.say('A sentence that takes long to say. '.repeat(10))).rejects.toThrow(
      /made no sound/,
    )
  })

  test('no voice installed', async () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const host = programs.host(platform)
      expect(await listPlatformVoices(host)).toEqual([])
      await expect(createPlatformSpeaker({ host })).rejects.toMatchObject({ code: 'speech/no-voice' })
      await expect(createPlatformVoice({ host })).rejects.toMatchObject({ code: 'speech/no-voice' })
    }
  })

  test('a voice that is not there is named', async () => {
    addVoice('espeak-ng', ESPEAK_VOICES, '--voices')
    await expect(createPlatformSpeaker({ host: programs.host('linux'), voice: 'Ada' })).rejects.toThrow(
      /There is no voice "Ada" on this system; it has 5 others/,
    )
  })

  test('samples come sentence by sentence from files that do not stay', async () => {
    const clip = { samples: Float32Array.from([0, 0.5, -0.5]), sampleRate: 22_050 }
    const wave = JSON.stringify([...encodeWav(clip)])
    addVoice(
      'espeak-ng',
      ESPEAK_VOICES,
      '--voices',
      `writeFileSync(args[args.indexOf('-w') + 1], Buffer.from(${wave}))`,
    )
    const voice = await createPlatformVoice({ host: programs.host('linux') })
    const pieces = []
    for await (const piece of voice.synthesize('There is a dog. It is brown.')) pieces.push(piece)
    expect(pieces.map(({ text }) => text)).toEqual(['There is a dog.', 'It is brown.'])
    expect([...(pieces[0]?.samples ?? [])]).toEqual([...clip.samples])
    expect(programs.notes('espeak-ng').map(({ input }) => input)).toEqual([
      'There is a dog.\n',
      'It is brown.\n',
    ])
  })

  test.skipIf(!findCommand(['espeak-ng'], process))(
    'the eSpeak NG of this machine makes speech',
    async () => {
      const voice = await createPlatformVoice({ host: { platform: 'linux', env: process.env } })
      for await (const { samples, sampleRate } of voice.synthesize('There is a dog on the left.', {
        rate: 1.2,
      })) {
        expect(sampleRate).toBe(22_050)
        expect(samples.length / sampleRate).toBeGreaterThan(0.8)
        expect(samples.length / sampleRate).toBeLessThan(3)
        expect(samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeGreaterThan(0.1)
      }
    },
  )
})

describe('which voice', () => {
  const voice = (name: string, language: string) => ({ name, language })

  test('is of the tag, of the region, of the language, in this order', () => {
    const voices = [voice('a', 'en-AU'), voice('b', 'en-GB'), voice('c', 'en-US'), voice('d', 'de-DE')]
    expect(chooseVoice(voices, 'en-GB', 'en-US')?.name).toBe('b')
    expect(chooseVoice(voices, 'en', 'en-AU')?.name).toBe('a')
    expect(chooseVoice(voices, 'en', 'de-DE')?.name).toBe('c')
    expect(chooseVoice(voices, 'de-AT', '')?.name).toBe('d')
    expect(chooseVoice(voices, 'fr', '')).toBeUndefined()
  })

  test('is no joke', () => {
    const voices = [voice('Albert', 'en-US'), voice('Eddy (English (US))', 'en-US'), voice('Moira', 'en-IE')]
    expect(chooseVoice(voices, 'en-US', '')?.name).toBe('Moira')
    expect(chooseVoice([...voices, voice('Ava (Premium)', 'en-US')], 'en', '')?.name).toBe('Ava (Premium)')
    expect(chooseVoice(voices.slice(0, 1), 'en', '')?.name).toBe('Albert')
  })

  test('locales are read from the environment', () => {
    expect(localeOf({ LANG: 'zh_CN.UTF-8' })).toBe('zh-CN')
    expect(localeOf({ LANG: 'C' })).toBe('')
    expect(localeOf({ LC_ALL: 'en_GB', LANG: 'de_DE' })).toBe('en-GB')
  })
})
