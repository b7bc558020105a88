/** Many kinds of spoiled models, each named correctly; the sound ones beside them without any fault. */
import { describe, expect, it } from 'vitest'
import { memoryFileHost } from '../../test/support/memory-file-host.ts'
import { ggufPair, SpoilableModel } from '../../test/support/spoil-model.ts'
import { SPOILED_FOLDERS } from '../../test/support/spoiled-folders.ts'
import { SPOILED_PAIRS } from '../../test/support/spoiled-pairs.ts'
import { type FileContents, useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { EngineError } from '../shared/errors.ts'
import { FINDING_CODES, type FindingCode } from './finding.ts'
import { type Inspection, inspectModelOn } from './inspect-model.ts'

const folders = useTemporaryFolders()

/** Inspects files under a name that people could have given them. */
function inspectFiles(
  files: Record<string, FileContents>,
  { name = 'some-model', fileName, weights = true }: InspectedAs = {},
): Promise<Inspection> {
  return inspectModelOn(memoryFileHost(name, files, fileName), fileName ?? name, { weights })
}

interface InspectedAs {
  readonly name?: string | undefined
  readonly fileName?: string | undefined
  /** False where the fault shows without the values of weights, which saves most of the time. */
  readonly weights?: boolean | undefined
}

function codesOf({ findings }: Inspection): FindingCode[] {
  return findings.map(({ code }) => code)
}

describe('sound models', () => {
  it('a folder has no fault, and its facts are right', async () => {
    const { ok, model, findings } = await inspectFiles(new SpoilableModel().files())
    expect(findings).toEqual([])
    expect(ok).toBe(true)
    expect(model.architecture).toBe('idefics3')
    expect(model.parameters).toEqual({
      total: 3_381_952,
      vision: 1_086_912,
      projector: 196_608,
      embedding: 524_288,
      layers: 1_573_888,
      head: 256,
      other: 0,
    })
    expect(model.pictures).toEqual({
      frameSize: 256,
      patchSize: 16,
      tokensPerFrame: 64,
      maxFrames: 1,
      maxTokens: 64,
    })
    expect(model.memory).toEqual({
      contextLength: 2048,
      weightBytes: 2 * model.parameters.total,
      cacheBytes: 2048 * 2 * 2 * 2 * 64 * 2,
      totalBytes: 2 * model.parameters.total + 2048 * 2 * 2 * 2 * 64 * 2,
    })
    expect(model.chatTemplate).toBe('chat_template.json: chat_template')
    expect(model.read.whole).toBe(true)
  })

  it('a GGUF pair has no fault', async () => {
    const folder = folders.create(new SpoilableModel().files())
    const { ok, findings, model } = await inspectFiles(ggufPair(folder))
    expect(findings).toEqual([])
    expect(ok).toBe(true)
    expect(model.types.map(({ type }) => type)).toEqual(['Q8_0', 'F16', 'F32'])
  })
})

describe('what is no fault', () => {
  const pairOf = (change?: Parameters<typeof ggufPair>[1]) =>
    ggufPair(folders.create(new SpoilableModel().files()), change)

  it('the config.json that repositories of GGUF files carry', async () => {
    const files = { ...pairOf(), 'config.json': '{"model_type": "idefics3"}', 'README.md': '# GGUF' }
    expect(codesOf(await inspectFiles(files, { weights: false }))).toEqual([])
  })

  it('other models in the folder of a file that was named', async () => {
    const files = { ...pairOf(), 'other.gguf': 'GGUF but damaged' }
    const inspection = await inspectFiles(files, { fileName: 'model-q8_0.gguf', weights: false })
    expect(codesOf(inspection)).toEqual([])
    expect(inspection.model.pictures?.tokensPerFrame).toBe(64)
  })

  it('a family that is not known is named as that only', async () => {
    const files = pairOf((text) =>
      text.metadata.set('general.architecture', { type: 'string', value: 'qwen2vl' }),
    )
    const inspection = await inspectFiles(
      { 'Qwen2-VL-Instruct.gguf': files['model-q8_0.gguf'] },
      { name: 'Qwen2-VL', weights: false },
    )
    expect(codesOf(inspection)).toEqual(['model/unknown-architecture'])
  })
})

function showsInWeights(code: FindingCode, also: readonly FindingCode[]): boolean {
  return [code, ...also].some((one) => /^weights|foreign/.test(one))
}

describe('spoiled folders', () => {
  it.each(SPOILED_FOLDERS)('$name: $code', async ({ code, also = [], folder, spoil }) => {
    const model = new SpoilableModel()
    spoil(model)
    const weights = showsInWeights(code, also)
    const inspection = await inspectFiles(model.files(), { name: folder, weights })
    const finding = inspection.findings.find((one) => one.code === code)
    expect(codesOf(inspection)).toContain(code)
    expect(inspection.ok).toBe(finding?.severity !== 'error')
    // Nothing else is named but what follows from the same fault.
    expect(codesOf(inspection).filter((other) => other !== code && !also.includes(other))).toEqual([])
  })
})

describe('spoiled GGUF files', () => {
  it.each(SPOILED_PAIRS)('$name: $code', async ({ code, also = [], folder, fileName, spoil }) => {
    const source = folders.create(new SpoilableModel().files())
    const weights = showsInWeights(code, also)
    const inspection = await inspectFiles(spoil(source), { name: folder, fileName, weights })
    const finding = inspection.findings.find((one) => one.code === code)
    expect(codesOf(inspection)).toContain(code)
    expect(inspection.ok).toBe(finding?.severity !== 'error')
    expect(codesOf(inspection).filter((other) => other !== code && !also.includes(other))).toEqual([])
  })
})

/** A file that the system does not give has a test of its own below. */
const ELSEWHERE: readonly FindingCode[] = ['file/unreadable']

it('every code has a model that shows it', () => {
  const shown = new Set(
    [...SPOILED_FOLDERS, ...SPOILED_PAIRS].flatMap(({ code, also = [] }) => [code, ...also]),
  )
  const codes = Object.keys(FINDING_CODES) as FindingCode[]
  expect(codes.filter((code) => !shown.has(code))).toEqual(ELSEWHERE)
})

it('a file that may not be read is a finding, and the rest is still described', async () => {
  const host = memoryFileHost('some-model', new SpoilableModel().files())
  const { folder } = await host.locateModel('')
  const open = async (name: string) => {
    if (name !== 'model.safetensors') return folder.open(name)
    throw new EngineError('file/no-permission', { message: `${name}: no permission to read this file.` })
  }
  const locked = { ...host, locateModel: async () => ({ folder: { ...folder, open }, fileName: undefined }) }
  const inspection = await inspectModelOn(locked, 'some-model')
  expect(codesOf(inspection)).toEqual(['file/unreadable'])
  expect(inspection.model.decoder?.layers).toBe(2)
})

it('says what was read, and less of a large model', async () => {
  const files = new SpoilableModel().files()
  const bytes = 2 * 3_381_952
  const read = async (options: Parameters<typeof inspectModelOn>[2]) =>
    (await inspectModelOn(memoryFileHost('some-model', files), 'some-model', options)).model.read
  expect(await read({})).toEqual({ bytes, ofBytes: bytes, whole: true })
  expect(await read({ weights: false })).toEqual({ bytes: 0, ofBytes: bytes, whole: false })
  expect(await read({ sparing: true })).toMatchObject({ ofBytes: bytes, whole: false })
})

it('stops when the signal is aborted', async () => {
  const controller = new AbortController()
  const inspecting = inspectModelOn(
    memoryFileHost('some-model', new SpoilableModel().files()),
    'some-model',
    {
      signal: controller.signal,
      onProgress: (done) => done === 3 && controller.abort(),
    },
  )
  await expect(inspecting).rejects.toMatchObject({ name: 'AbortError' })
})
