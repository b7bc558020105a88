/** Conversions read back: against the reference's stages, against the Python package's files, and in memory. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { largestShare } from '../../test/support/compare.ts'
import { goldenPath, readGoldenRuns } from '../../test/support/golden-model.ts'
import { expectStages, traceRun } from '../../test/support/golden-stages.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { findRecipe, parseRecipe, type Recipe } from '../convert/recipe.ts'
import { MATRIX_ROLES } from '../convert/source-model.ts'
import { type GgufFile, loadGguf } from '../formats/gguf/load-gguf.ts'
import { createNodeFileHost } from '../host/node/file-host.ts'
import { createImageDecoder } from '../host/node/image-decoder.ts'
import { createPendingFileHost } from '../host/node/pending-file.ts'
import { createSnapshotFiles } from '../host/node/snapshot-files.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { readBytes } from '../shared/byte-source.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import { type ConvertHost, type ConvertOptions, convertModelOn, projectorPath } from './convert-model.ts'

const TINY = new URL('../../models/tiny', import.meta.url).pathname
const folders = useTemporaryFolders()
const host: ConvertHost = {
  files: createNodeFileHost(),
  images: createImageDecoder(),
  snapshots: createSnapshotFiles(),
  workers: createNodeWorkerHost(),
  output: createPendingFileHost(),
}

let backend: Backend
beforeAll(async () => {
  backend = await createWasmBackend(createNodeWorkerHost(), { threads: 1 })
})
afterAll(() => backend.dispose())

const F32 = parseRecipe(
  { name: 'f32', base: 'f16', types: Object.fromEntries(MATRIX_ROLES.map((role) => [role, 'F32'])) },
  'f32.json',
)

function convert(source: string, target: string, recipe: Recipe, options: ConvertOptions = {}) {
  return convertModelOn(host, source, target, { recipe, ...options })
}

/** By name: type, shape and a hash of the bytes. */
async function contentOf(path: string): Promise<{ gguf: GgufFile; tensors: Map<string, string> }> {
  const gguf = await loadGguf(createMemorySource(path, readFileSync(path)))
  const tensors = new Map<string, string>()
  for (const [name, { type, shape, byteOffset, byteLength, source }] of gguf.tensors) {
    const bytes = Buffer.from(await readBytes(source, byteOffset, byteLength))
    tensors.set(name, `${type} ${shape} ${createHash('sha256').update(bytes).digest('hex')}`)
  }
  return { gguf, tensors }
}

describe('F32 conversions give the reference’s stages', () => {
  it.each([
    ...['llama3', 'qwen2', 'qwen3', 'odd/qwen2', 'smolvlm', 'smolvlm-one-tile', 'odd/smolvlm', 'llava'],
  ])('%s', async (model) => {
    const target = join(folders.create({}), 'model.gguf')
    const { files } = await convert(goldenPath(model), target, F32)
    const loaded = await loadOnBackend(backend, target, { precision: 'f32' })
    try {
      expect(files.map(({ part }) => part)).toEqual(loaded.model.pictures ? ['text', 'projector'] : ['text'])
      for (const run of readGoldenRuns(model)) {
        // The one tile of a model that does not split is made in two steps there and in one from GGUF.
        if (model === 'smolvlm-one-tile' && run.picture) continue
        expectStages(await traceRun(loaded, run), run)
      }
    } finally {
      loaded.model.dispose()
    }
  })
})

describe('F16 conversions hold the tensors that the Python package wrote', () => {
  it.each([
    ['odd/smolvlm', 'model.gguf', 'odd-smolvlm-f16.gguf'],
    ['odd/smolvlm', 'mmproj-model.gguf', 'mmproj-odd-smolvlm-f16.gguf'],
    ['llava', 'mmproj-model.gguf', 'mmproj-llava-f16.gguf'],
    ['llama3', 'model.gguf', 'llama3-f16.gguf'],
    ['odd/qwen2', 'model.gguf', 'odd-qwen2-f16.gguf'],
  ])('%s %s', async (model, file, golden) => {
    const folder = folders.create({})
    await convert(goldenPath(model), join(folder, 'model.gguf'), findRecipe('f16'))
    const ours = await contentOf(join(folder, file))
    const theirs = await contentOf(goldenPath(`gguf/${golden}`))
    for (const [name, content] of ours.tensors)
      expect([name, content]).toEqual([name, theirs.tensors.get(name)])
  })
})

describe('the bundled model', () => {
  it.each(['q8', 'q4', 'mixed', 'small'])('%s loads with the types that the report names', async (name) => {
    const target = join(folders.create({}), 'tiny.gguf')
    const report = await convert(TINY, target, findRecipe(name))
    const files = await Promise.all([target, projectorPath(target)].map(contentOf))
    const found = files.flatMap(({ gguf }) =>
      [...gguf.tensors.values()].map((tensor) => [tensor.name, tensor.type]),
    )
    expect(report.tensors.map((tensor) => [tensor.name, tensor.to])).toEqual(found)
    expect(report.files.map(({ byteLength }) => byteLength)).toEqual(
      [target, projectorPath(target)].map((path) => readFileSync(path).byteLength),
    )
  })

  it('q8 on disk computes what q8 in memory computes', async () => {
    const target = join(folders.create({}), 'tiny.gguf')
    await convert(TINY, target, findRecipe('q8'))
    const run = { ask: 'What is there?', image: goldenPath('tiny-cases/pictures/004.png') }
    const stages = []
    for (const [path, precision] of [
      [TINY, 'q8'],
      [target, 'auto'],
    ] as const) {
      const loaded = await loadOnBackend(backend, path, { precision })
      stages.push(
        await traceRun(loaded, {
          name: 'q8',
          prompt: run.ask,
          picture: run.image,
          text: '',
          stages: new Map(),
        }),
      )
      loaded.model.dispose()
    }
    const [memory, disk] = stages
    expect([...disk!.keys()]).toEqual([...memory!.keys()])
    for (const name of ['input_ids', 'pixel_values', 'vision', 'image_features', 'greedy']) {
      expect(disk!.get(name)!.data, name).toEqual(memory!.get(name)!.data)
    }
    // Rows of Q and K lie in another order, so their products are summed in another, and int8 activations round apart.
    expect(largestShare(disk!.get('logits')!.data, memory!.get('logits')!.data)).toBeLessThan(1e-2)
  })

  it('a conversion converted again is the same file', async () => {
    const folder = folders.create({})
    await convert(TINY, join(folder, 'tiny.gguf'), findRecipe('f16'))
    const again = folders.create({})
    const report = await convert(join(folder, 'tiny.gguf'), join(again, 'tiny.gguf'), findRecipe('mixed'))
    const direct = folders.create({})
    await convert(TINY, join(direct, 'tiny.gguf'), findRecipe('mixed'))
    expect(report.files.map(({ part }) => part)).toEqual(['text', 'projector'])
    for (const name of readdirSync(direct)) {
      expect(Buffer.compare(readFileSync(join(again, name)), readFileSync(join(direct, name))), name).toBe(0)
    }
  })

  it('blocks that are small enough already stay as they are', async () => {
    const folder = folders.create({})
    await convert(TINY, join(folder, 'tiny.gguf'), findRecipe('mixed'))
    const report = await convert(join(folder, 'tiny.gguf'), join(folder, 'again.gguf'), findRecipe('q8'), {
      projector: join(folder, 'mmproj-tiny.gguf'),
    })
    expect(report.tensors.find(({ name }) => name === 'blk.0.attn_q.weight')).toEqual({
      name: 'blk.0.attn_q.weight',
      from: 'Q4_0',
      to: 'Q4_0',
      byteLength: (256 * 256 * 18) / 32,
      reason: 'is stored so',
    })
  })
})

describe('rows that blocks do not divide', () => {
  it('fall back per tensor, and the report says so', async () => {
    const target = join(folders.create({}), 'odd.gguf')
    const { tensors } = await convert(goldenPath('odd/smolvlm'), target, findRecipe('q8'))
    const fallen = tensors.filter(({ reason }) => reason !== undefined)
    expect(fallen[0]).toEqual({
      name: 'token_embd.weight',
      from: 'F32',
      to: 'F16',
      byteLength: expect.any(Number),
      reason: expect.stringMatching(/^rows of \d+ are not whole blocks of 32 for Q8_0$/),
    })
  })
})

describe('files', () => {
  it('an existing target is kept unless force', async () => {
    const folder = folders.create({ 'mmproj-tiny.gguf': 'mine' })
    const target = join(folder, 'tiny.gguf')
    await expect(convert(TINY, target, findRecipe('q4'))).rejects.toMatchObject({
      code: 'option/target-exists',
    })
    expect(readdirSync(folder)).toEqual(['mmproj-tiny.gguf'])
    await convert(TINY, target, findRecipe('q4'), { force: true })
    expect(readdirSync(folder).sort()).toEqual(['mmproj-tiny.gguf', 'tiny.gguf'])
  })

  it('an abort leaves nothing behind and what was there untouched', async () => {
    const folder = folders.create({ 'tiny.gguf': 'mine' })
    const controller = new AbortController()
    const running = convert(TINY, join(folder, 'tiny.gguf'), findRecipe('q4'), {
      force: true,
      signal: controller.signal,
      onProgress({ step, done, total }) {
        if (step === 'writing' && done > total * 0.7) controller.abort()
      },
    })
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
    expect(readdirSync(folder)).toEqual(['tiny.gguf'])
    expect(readFileSync(join(folder, 'tiny.gguf'), 'utf8')).toBe('mine')
  })

  it('a disk without room is found before anything is written', async () => {
    const folder = folders.create({})
    const output = {
      ...host.output,
      inspectTarget: async () => ({ exists: false, freeBytes: 5_000_000 }),
    }
    const running = convertModelOn({ ...host, output }, TINY, join(folder, 'tiny.gguf'), {
      recipe: findRecipe('q8'),
    })
    await expect(running).rejects.toMatchObject({
      code: 'file/disk-full',
      message: expect.stringContaining('only 5000000 are free'),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('a disk that fills up leaves nothing behind', async () => {
    const folder = folders.create({})
    const output: ConvertHost['output'] = {
      ...host.output,
      async createFile(path) {
        const file = await host.output.createFile(path)
        let left = 4_000_000
        const write = file.write.bind(file)
        file.write = async (bytes) => {
          left -= bytes.byteLength
          if (left < 0) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
          await write(bytes)
        }
        return file
      },
    }
    const running = convertModelOn({ ...host, output }, TINY, join(folder, 'tiny.gguf'), {
      recipe: findRecipe('q8'),
    })
    await expect(running).rejects.toThrow('no space')
    expect(readdirSync(folder)).toEqual([])
  })

  it('progress ends with every byte of both files', async () => {
    const target = join(folders.create({}), 'tiny.gguf')
    const steps: string[] = []
    let last = { done: 0, total: 0 }
    const report = await convert(TINY, target, findRecipe('q4'), {
      onProgress(progress) {
        if (!steps.includes(progress.step)) steps.push(progress.step)
        last = progress
      },
    })
    expect(steps).toEqual(['writing'])
    expect([last.done, last.total]).toEqual([report.byteLength, report.byteLength])
  })

  it.each([
    ['no .gguf name', 'model.bin', 'option/target'],
    ['a missing folder', 'none/tiny.gguf', 'file/not-found'],
    ['a folder', 'folder.gguf', 'file/is-directory'],
  ])('refuses %s', async (_, name, code) => {
    const folder = folders.create({ 'folder.gguf/a': '' })
    await expect(convert(TINY, join(folder, name), findRecipe('q4'))).rejects.toMatchObject({ code })
  })
})

describe('refused before the work starts', () => {
  it('a recipe for a tensor that is not there', async () => {
    const recipe = parseRecipe({ tensors: { 'blk.99.*': 'Q6_K' } }, 'a.json')
    const folder = folders.create({})
    await expect(convert(TINY, join(folder, 'tiny.gguf'), recipe)).rejects.toMatchObject({
      code: 'option/recipe',
      message: 'The recipe a.json names "blk.99.*", but the model has no such tensor.',
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('a tokenizer whose splitting GGUF has no name for', async () => {
    const tokenizer = JSON.parse(readFileSync(join(TINY, 'tokenizer.json'), 'utf8'))
    tokenizer.pre_tokenizer.pretokenizers[0].individual_digits = false
    const source = folders.copy(goldenPath('qwen2'), { 'tokenizer.json': JSON.stringify(tokenizer) })
    await expect(convert(source, join(source, 'out.gguf'), findRecipe('q8'))).rejects.toMatchObject({
      code: 'text/unsupported-pre-tokenizer',
    })
    expect(existsSync(join(source, 'out.gguf'))).toBe(false)
  })

  it('a projector whose activation GGUF cannot state', async () => {
    const config = JSON.parse(readFileSync(goldenPath('llava/config.json'), 'utf8'))
    config.projector_hidden_act = 'quick_gelu'
    const source = folders.copy(goldenPath('llava'), { 'config.json': JSON.stringify(config) })
    await expect(convert(source, join(source, 'out.gguf'), findRecipe('q8'))).rejects.toMatchObject({
      code: 'model/not-expressible',
    })
  })

  it('values beyond the range of F16, by tensor', async () => {
    const source = folders.copy(goldenPath('qwen2'))
    const path = join(source, 'model.safetensors')
    const bytes = readFileSync(path)
    const headerLength = Number(bytes.readBigUInt64LE(0))
    const header = JSON.parse(bytes.subarray(8, 8 + headerLength).toString())
    const [start] = header['model.layers.0.mlp.up_proj.weight'].data_offsets
    bytes.writeFloatLE(70000, 8 + headerLength + start)
    writeFileSync(path, bytes)
    const target = join(folders.create({}), 'out.gguf')
    await expect(convert(source, target, findRecipe('f16'))).rejects.toMatchObject({
      code: 'format/value-out-of-range',
      message: expect.stringContaining('tensor "model.layers.0.mlp.up_proj.weight" cannot become F16'),
    })
  })
})

describe('calibration', () => {
  const calibration = {
    items: ['000', '002', '004'].map((id) => ({
      id,
      pictures: [`${id}.png`],
      turns: [{ ask: 'What is there?', answers: [] }],
    })),
    resolvePicture: (name: string) => goldenPath(`tiny-cases/pictures/${name}`),
  }

  it('reports the loss and changes no sizes', async () => {
    const folder = folders.create({})
    const plain = await convert(TINY, join(folder, 'plain.gguf'), findRecipe('mixed'))
    const tuned = await convert(TINY, join(folder, 'tuned.gguf'), findRecipe('mixed'), {
      calibration,
      threads: 1,
    })
    expect(tuned.tensors).toEqual(plain.tensors)
    expect(tuned.loss!.meanKl).toBeGreaterThan(0)
    expect(tuned.loss!.meanKl).toBeLessThan(0.05)
    expect(tuned.upgraded).toBe(0)
    const blocks = await Promise.all(
      ['plain', 'tuned'].map((name) => contentOf(join(folder, `${name}.gguf`))),
    )
    const differs = [...blocks[0]!.tensors].filter(([name, bytes]) => blocks[1]!.tensors.get(name) !== bytes)
    // Importance matters to four bits alone: 7 matrices in each of 6 layers.
    expect(differs.length).toBe(42)
  })

  it('gives six bits to sensitive matrices until the target is met', async () => {
    const folder = folders.create({})
    const recipe = parseRecipe(
      {
        types: { attention: 'Q8_0', feedForward: 'Q8_0' },
        tensors: { 'blk.*.ffn_down.weight': 'Q4_0' },
        search: false,
      },
      'down.json',
    )
    const before = await convert(TINY, join(folder, 'before.gguf'), recipe, { calibration, threads: 1 })
    const targetLoss = before.loss!.meanKl / 2
    const after = await convert(TINY, join(folder, 'after.gguf'), recipe, {
      calibration,
      targetLoss,
      threads: 1,
    })
    expect(after.loss!.meanKl).toBeLessThanOrEqual(targetLoss)
    const six = after.tensors.filter(({ name, to }) => name.startsWith('blk.') && to === 'Q6_K')
    expect(six.length).toBe(after.upgraded)
    expect(six.every(({ reason }) => reason === 'sensitive')).toBe(true)
    expect(after.upgraded).toBeGreaterThan(0)
    expect(after.upgraded).toBeLessThan(6)
  })

  it('a target without pictures is refused', async () => {
    const target = join(folders.create({}), 'tiny.gguf')
    await expect(convert(TINY, target, findRecipe('mixed'), { targetLoss: 0.1 })).rejects.toMatchObject({
      code: 'option/target-loss',
    })
  })

  it('a target out of reach writes nothing', async () => {
    const folder = folders.create({})
    const recipe = parseRecipe(
      { types: { attention: 'Q8_0', feedForward: 'Q8_0' }, tensors: { 'blk.0.ffn_up.weight': 'Q4_0' } },
      'a.json',
    )
    const running = convert(TINY, join(folder, 'tiny.gguf'), recipe, {
      calibration,
      targetLoss: 1e-9,
      threads: 1,
    })
    await expect(running).rejects.toMatchObject({ code: 'option/target-loss' })
    expect(readdirSync(folder)).toEqual([])
  })
})
