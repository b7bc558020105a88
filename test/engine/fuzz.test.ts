/**
 * Small valid models with a few bytes or values changed, hundreds of them, always the same ones: each loads or is
 * refused with an EngineError, and what loads answers or refuses to answer.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EngineError, loadModel } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { readJson } from '../support/changed-folder.ts'
import { encodeModel, projectorModel, textModel } from '../support/gguf-from-checkpoint.ts'
import { goldenPath } from '../support/golden-model.ts'
import { expectNothingLeftOpen } from '../support/refusal.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()
const VISION = goldenPath('odd/smolvlm')

expectNothingLeftOpen()

interface Attempt {
  readonly path: string
  readonly projector?: string
  readonly what: string
}

/** Tells what happened; throws for anything that is neither a model nor an error for people. */
async function tryModel({ path, projector, what }: Attempt): Promise<'answered' | 'refused'> {
  try {
    const model = await loadModel(path, {
      threads: 1,
      precision: 'f32',
      ...(projector === undefined ? {} : { projector }),
    })
    try {
      const { usage } = await ask(model.chat(), 'a', { maxTokens: 2 })
      expect(usage.completionTokens, what).toBeGreaterThan(0)
      return 'answered'
    } finally {
      await model.dispose()
    }
  } catch (error) {
    if (!EngineError.isInstance(error)) throw new Error(`${what}: ${String(error)}`, { cause: error })
    expect(error.message, what).not.toMatch(/undefined|\[object|NaN found/)
    return 'refused'
  }
}

async function run(
  count: number,
  create: (random: SeededRandom) => Attempt,
): Promise<Record<string, number>> {
  const results: Record<string, number> = { answered: 0, refused: 0 }
  for (let seed = 1; seed <= count; seed++) {
    const attempt = create(new SeededRandom(seed))
    results[await tryModel({ ...attempt, what: `seed ${seed}, ${attempt.what}` })]!++
  }
  return results
}

const VALUES: readonly unknown[] = [
  null,
  0,
  1,
  -1,
  2,
  3,
  4.5,
  1e9,
  2 ** 31,
  1e308,
  '',
  'x',
  '7',
  true,
  false,
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  'x'.repeat(5000),
]

/** Replaces, removes or repeats one value somewhere inside. */
function mutate(value: unknown, random: SeededRandom): { value: unknown; what: string } {
  const places: { parent: Record<string, unknown>; key: string; path: string }[] = []
  const walk = (parent: Record<string, unknown>, path: string): void => {
    for (const key of Object.keys(parent).slice(0, 40)) {
      places.push({ parent, key, path: `${path}.${key}` })
      const child = parent[key]
      if (typeof child === 'object' && child !== null)
        walk(child as Record<string, unknown>, `${path}.${key}`)
    }
  }
  const root = structuredClone(value) as Record<string, unknown>
  walk(root, '')
  const { parent, key, path } = random.pick(places)
  if (random.uniform() < 0.2) {
    delete parent[key]
    return { value: root, what: `${path} removed` }
  }
  const chosen = random.pick(VALUES)
  parent[key] = chosen
  return { value: root, what: `${path} = ${JSON.stringify(chosen).slice(0, 40)}` }
}

describe.each([
  ['config.json', 60],
  ['tokenizer.json', 40],
  ['tokenizer_config.json', 15],
  ['preprocessor_config.json', 25],
  ['generation_config.json', 10],
])('%s', (file, count) => {
  it(`${count} times with one value changed`, async () => {
    const original = readJson(VISION, file)
    const results = await run(count, (random) => {
      const { value, what } = mutate(original, random)
      return {
        path: folders.copy(VISION, { [file]: JSON.stringify(value), 'expected.safetensors': undefined }),
        what: `${file} ${what}`,
      }
    })
    expect(results['answered']! + results['refused']!).toBe(count)
  })
})

/** Changes some bytes of the first `length`. */
function flipBytes(
  file: Uint8Array,
  length: number,
  random: SeededRandom,
): { bytes: Uint8Array; what: string } {
  const bytes = Uint8Array.from(file)
  const what: string[] = []
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(length)
    bytes[at] = random.uniform() < 0.5 ? bytes[at]! ^ (1 << random.below(8)) : random.below(256)
    what.push(`byte ${at} = ${bytes[at]}`)
  }
  return { bytes, what: what.join(', ') }
}

describe('headers', () => {
  it('of safetensors, with bytes changed', async () => {
    const file = readFileSync(join(VISION, 'model.safetensors'))
    const length = 8 + Number(file.readBigUInt64LE(0))
    const results = await run(40, (random) => {
      const { bytes, what } = flipBytes(file, length, random)
      return {
        path: folders.copy(VISION, { 'model.safetensors': bytes, 'expected.safetensors': undefined }),
        what,
      }
    })
    expect(results['refused']).toBeGreaterThan(30)
  })

  it.each(['model.gguf', 'mmproj.gguf'])('of %s, with bytes changed', async (changed) => {
    const files: Record<string, Uint8Array> = {
      'model.gguf': encodeModel(textModel(VISION)),
      'mmproj.gguf': encodeModel(projectorModel(VISION)),
    }
    // Keys and tensor records; of the text model mostly what is not its vocabulary.
    const length = changed === 'mmproj.gguf' ? 3000 : 700
    const results = await run(50, (random) => {
      const { bytes, what } = flipBytes(files[changed]!, length, random)
      const folder = folders.create({ ...files, [changed]: bytes })
      return { path: join(folder, 'model.gguf'), projector: join(folder, 'mmproj.gguf'), what }
    })
    expect(results['refused']).toBeGreaterThan(10)
  })
})
