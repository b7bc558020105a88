import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { createNodeFileHost } from '../host/node/file-host.ts'
import { openFile } from '../host/node/file-source.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { type LoadVoiceOptions, loadVoiceOn, type VoiceHost } from './load-voice.ts'
import type { SpeakOptions, SpokenPiece, Voice } from './types.ts'

const ROOT = new URL('../../', import.meta.url)
const path = (name: string) => fileURLToPath(new URL(name, ROOT))
const PIPER = path('test/golden/vits/piper')
const HUGGING_FACE = path('test/golden/vits/hf')

const host: VoiceHost = {
  workers: createNodeWorkerHost(),
  files: createNodeFileHost(),
  openLetterNetwork: () => openFile(path('models/letters/model.safetensors')),
}
const folders = useTemporaryFolders()

const voices: Voice[] = []
afterEach(async () => {
  for (const voice of voices.splice(0)) await voice.dispose()
})

async function load(reference: string, options: LoadVoiceOptions = {}): Promise<Voice> {
  const voice = await loadVoiceOn(host, reference, options)
  voices.push(voice)
  return voice
}

async function speak(voice: Voice, text: string, options: SpeakOptions = {}): Promise<SpokenPiece[]> {
  const pieces: SpokenPiece[] = []
  for await (const piece of voice.synthesize(text, options)) pieces.push(piece)
  return pieces
}

const soundOf = (pieces: readonly SpokenPiece[]) => pieces.flatMap(({ samples }) => [...samples])

/** A copy of the Piper voice with changed settings. */
function withSettings(changes: object): string {
  const folder = folders.create({})
  cpSync(PIPER, folder, { recursive: true })
  const settings = JSON.parse(readFileSync(join(PIPER, 'voice.onnx.json'), 'utf8'))
  writeFileSync(join(folder, 'voice.onnx.json'), JSON.stringify({ ...settings, ...changes }))
  return folder
}

describe('loadVoice', () => {
  it.each([
    ['a Piper file', join(PIPER, 'voice.onnx'), ['en-US']],
    ['a folder with one', PIPER, ['en-US']],
    ['a Hugging Face folder', HUGGING_FACE, ['en']],
  ])('%s', async (_, reference, languages) => {
    const loaded: number[] = []
    const voice = await load(reference, { onProgress: ({ loadedBytes }) => loaded.push(loadedBytes) })
    expect(voice.info).toMatchObject({ architecture: 'vits', languages, sampleRate: 16000 })
    expect(voice.info.allocatedBytes).toBeGreaterThan(100_000)
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b))
    expect(loaded.length).toBeGreaterThan(10)
    const pieces = await speak(voice, 'A bad dad.')
    expect(pieces[0]?.text).toBe('A bad dad.')
    const sound = soundOf(pieces)
    expect(sound.length).toBeGreaterThan(1000)
    expect(sound.every((sample) => Math.abs(sample) <= 1)).toBe(true)
    expect(sound.some((sample) => Math.abs(sample) > 1e-3)).toBe(true)
  })

  it('says sentence after sentence, each with its text, and a pause after it', async () => {
    const voice = await load(PIPER)
    const pieces = await speak(voice, 'A dad sat. A bad ant.')
    expect(
      pieces
        .map(({ text }) => text)
        .filter(Boolean)
        .map((text) => text.trim()),
    ).toEqual(['A dad sat.', 'A bad ant.'])
    const pause = pieces.at(-1)!.samples
    expect(pause.length).toBe(4000)
    expect(pause.every((sample) => sample === 0)).toBe(true)
  })

  it('sounds the same each time, in both precisions almost', async () => {
    const [voice, exact] = [await load(PIPER), await load(PIPER, { precision: 'f32' })]
    const first = soundOf(await speak(voice, 'An ant.'))
    expect(soundOf(await speak(voice, 'An ant.'))).toEqual(first)
    const other = soundOf(await speak(exact, 'An ant.'))
    expect(other.length).toBe(first.length)
    expect(Math.max(...other.map((sample, i) => Math.abs(sample - first[i]!)))).toBeLessThan(0.02)
  })

  it('keeps its length at another pitch', async () => {
    const voice = await load(PIPER)
    const own = soundOf(await speak(voice, 'A dad sat.')).length
    const high = soundOf(await speak(voice, 'A dad sat.', { pitch: 1.5 })).length
    expect(Math.abs(high - own) / own).toBeLessThan(0.25)
    await expect(speak(voice, 'a', { pitch: 3 })).rejects.toMatchObject({
      code: 'option/invalid',
      field: 'pitch',
    })
    await expect(speak(voice, 'a', { rate: Number.NaN })).rejects.toMatchObject({ field: 'rate' })
  })

  it('stops when it is told to', async () => {
    const voice = await load(PIPER)
    const controller = new AbortController()
    const pieces = voice.synthesize('A dad. A dad. A dad.', { signal: controller.signal })
    await pieces.next()
    controller.abort()
    await expect(pieces.next()).rejects.toMatchObject({ name: 'AbortError' })
    expect(soundOf(await speak(voice, 'A dad.')).length).toBeGreaterThan(0)
  })

  it('says that it has no sounds for a text, and is silent where nothing is to be said', async () => {
    const voice = await load(PIPER)
    await expect(speak(voice, '你好')).rejects.toMatchObject({ code: 'speech/cannot-say' })
    expect(await speak(voice, ' … !')).toEqual([])
    expect(await speak(voice, '')).toEqual([])
  })

  it('takes one of several speakers', async () => {
    const [first, second] = [await load(HUGGING_FACE), await load(HUGGING_FACE, { speaker: 1 })]
    expect(soundOf(await speak(second, 'abc'))).not.toEqual(soundOf(await speak(first, 'abc')))
    await expect(load(HUGGING_FACE, { speaker: 2 })).rejects.toMatchObject({ code: 'option/speaker' })
    await expect(load(HUGGING_FACE, { speaker: 'amy' })).rejects.toMatchObject({ code: 'option/speaker' })
  })

  it('speaks pinyin', async () => {
    const symbols = ['_', '^', '$', 'n', 'i', 'h', 'ao', '3', '，']
    const ids = Object.fromEntries(symbols.map((symbol, index) => [symbol, [index]]))
    const folder = withSettings({ phoneme_type: 'pinyin', phoneme_id_map: ids, language: { code: 'zh_CN' } })
    const voice = await load(folder)
    expect(voice.info.languages).toEqual(['zh-CN'])
    expect(soundOf(await speak(voice, '你好')).length).toBeGreaterThan(1000)
    await expect(speak(voice, '。')).resolves.toEqual([])
  })

  it.each([
    [
      'another language in IPA',
      { language: { code: 'de_DE' } },
      'speech/unsupported-language',
      /"de-DE" with IPA/,
    ],
    ['ids beyond the embedding', { phoneme_id_map: { a: [20] } }, 'config/bad-field', /numbers from 0 to 19/],
    ['no ids', { phoneme_id_map: undefined }, 'config/bad-field', /"phoneme_id_map"/],
    ['no sample rate', { audio: {} }, 'config/bad-field', /sample_rate/],
  ])('refuses %s', async (_, changes, code, message) => {
    await expect(load(withSettings(changes))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
  })

  it('names what is missing or something else', async () => {
    await expect(load(path('models/tiny'))).rejects.toMatchObject({ code: 'model/unknown-architecture' })
    const alone = folders.create({ 'voice.onnx': readFileSync(join(PIPER, 'voice.onnx')) })
    await expect(load(alone)).rejects.toMatchObject({
      code: 'file/missing-file',
      message: expect.stringContaining('voice.onnx.json'),
    })
    const two = folders.create({ 'a.onnx': '', 'b.onnx': '' })
    await expect(load(two)).rejects.toMatchObject({ code: 'file/ambiguous-model' })
    const cut = withSettings({})
    writeFileSync(join(cut, 'voice.onnx'), readFileSync(join(PIPER, 'voice.onnx')).subarray(0, 100_000))
    await expect(load(cut)).rejects.toMatchObject({ code: 'format/truncated' })
    await expect(load('')).rejects.toMatchObject({ code: 'option/invalid' })
  })

  it('is closed once and for all', async () => {
    const voice = await load(PIPER)
    await voice.dispose()
    await voice.dispose()
    expect(voice.info.allocatedBytes).toBe(0)
    await expect(speak(voice, 'A dad.')).rejects.toMatchObject({ code: 'speech/disposed' })
  })
})
