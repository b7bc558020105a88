/** Opens the files behind a voice: Piper's `.onnx` with its settings, or a Hugging Face folder. */
import { JsonFiles } from '../../engine/json-files.ts'
import { openCheckpoint } from '../../engine/open-checkpoint.ts'
import { loadOnnx } from '../../formats/onnx/load-onnx.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'
import { ConfigFields } from '../../models/config-fields.ts'
import { inferVitsConfig, parseVitsConfig, type VitsConfig } from '../../models/vits/config.ts'
import { namePiperTensors, renameVitsTensor } from '../../models/vits/weights.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import type { FileHost, ModelFolder } from '../../shared/model-files.ts'
import type { LanguageTag } from '../types.ts'
import { parseSymbolIds, type SymbolIds } from './voice-symbols.ts'

export interface OpenedVoice {
  readonly name: string
  readonly config: VitsConfig
  /** By the engine's names. */
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly ids: SymbolIds
  /** What the symbols are: IPA, pinyin, or letters; with blanks as the voice was trained. */
  readonly alphabet: 'ipa' | 'pinyin' | 'letters' | 'letters-with-blanks'
  readonly languages: readonly LanguageTag[]
  /** Speakers by their names. */
  readonly speakers: ReadonlyMap<string, number>
  readonly sources: readonly ByteSource[]
}

export async function openVoice(host: FileHost, reference: string): Promise<OpenedVoice> {
  const { folder, fileName } = await host.locateModel(reference)
  const onnx = fileName ?? (await findOnnx(folder))
  return onnx?.endsWith('.onnx') ? openPiper(folder, onnx) : openHuggingFace(host, reference)
}

/** The only voice of a folder that is no Hugging Face folder. */
async function findOnnx(folder: ModelFolder): Promise<string | undefined> {
  const names = await folder.list()
  if (names.includes('config.json')) return undefined
  const [only, ...more] = names.filter((name) => name.endsWith('.onnx'))
  if (more.length === 0) return only
  throw new EngineError('file/ambiguous-model', {
    message: `${folder.name} has several voices: ${[only, ...more].join(', ')}.`,
    hint: 'Name one of these files.',
  })
}

async function openPiper(folder: ModelFolder, fileName: string): Promise<OpenedVoice> {
  const files = new JsonFiles(folder)
  const settingsFile = `${fileName}.json`
  const value = await files.require(settingsFile)
  const label = files.label(settingsFile)
  const settings = new ConfigFields(value, label)
  const inference = settings.object('inference', {})
  const source = await folder.open(fileName)
  try {
    const file = await loadOnnx(source)
    const tensors = namePiperTensors(file)
    const config = inferVitsConfig(source.name, (name) => tensors.get(name)?.shape, file.nodes, {
      sampleRate: settings.object('audio').count('sample_rate'),
      noise: inference.positive('noise_scale', 0.667),
      durationNoise: inference.positive('noise_w', 0.8),
      lengthScale: inference.positive('length_scale', 1),
    })
    const fields = value as { phoneme_id_map?: unknown; speaker_id_map?: unknown }
    return {
      name: source.name,
      config,
      tensors,
      ids: parseSymbolIds(fields.phoneme_id_map, label, 'phoneme_id_map', config.symbols),
      alphabet: settings.choice('phoneme_type', ALPHABETS, 'espeak'),
      languages: [languageOf(settings)],
      speakers: parseSpeakers(fields.speaker_id_map, config.speakers),
      sources: [source],
    }
  } catch (error) {
    await source.close()
    throw error
  }
}

const ALPHABETS = { espeak: 'ipa', pinyin: 'pinyin', text: 'letters' } as const

/** `en_US` as a tag. Older voices name espeak's voice only. */
function languageOf(settings: ConfigFields): LanguageTag {
  const code = settings.object('language', {}).string('code', '')
  return (code || settings.object('espeak', {}).string('voice', 'en')).replace('_', '-')
}

function parseSpeakers(value: unknown, speakers: number): ReadonlyMap<string, number> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return new Map(
    entries.filter(
      (entry): entry is [string, number] =>
        Number.isInteger(entry[1]) && entry[1] >= 0 && entry[1] < speakers,
    ),
  )
}

async function openHuggingFace(host: FileHost, reference: string): Promise<OpenedVoice> {
  const { checkpoint, files, sources } = await openCheckpoint(host, reference)
  try {
    if (checkpoint.container !== 'safetensors' || files === undefined)
      throw notAVoice(checkpoint.name, 'GGUF')
    const label = files.label('config.json')
    const architecture = new ConfigFields(checkpoint.config, label).string('model_type')
    if (architecture !== 'vits') throw notAVoice(checkpoint.name, architecture)
    const config = parseVitsConfig(checkpoint.config, label)
    const tokenizer = new ConfigFields(
      (await files.read('tokenizer_config.json')) ?? {},
      files.label('tokenizer_config.json'),
    )
    if (tokenizer.boolean('is_uroman', false) || tokenizer.boolean('phonemize', false)) {
      throw new EngineError('speech/unsupported-language', {
        message: `${checkpoint.name}: the voice reads text that a program of its own (${tokenizer.boolean('phonemize', false) ? 'espeak' : 'uroman'}) has to transcribe, which is not supported.`,
        hint: 'Use another voice: docs/speech.md says where to get one.',
      })
    }
    const language = tokenizer.string('language', 'und')
    return {
      name: checkpoint.name,
      config,
      tensors: new Map([...checkpoint.tensors].map(([name, info]) => [renameVitsTensor(name), info])),
      ids: parseSymbolIds(await files.require('vocab.json'), files.label('vocab.json'), '', config.symbols),
      alphabet: tokenizer.boolean('add_blank', true) ? 'letters-with-blanks' : 'letters',
      languages: [language],
      speakers: new Map(),
      sources,
    }
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

function notAVoice(name: string, found: string): EngineError {
  return new EngineError('model/unknown-architecture', {
    message: `${name}: expected a VITS voice; found a model of kind "${found}".`,
    hint: 'Use a Piper voice (.onnx with .onnx.json beside it) or a VITS folder of Hugging Face.',
  })
}
