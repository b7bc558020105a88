/** Damaged files end in findings: never in a crash, a hang or an error that is thrown. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { memoryFileHost } from '../../test/support/memory-file-host.ts'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { ggufPair, SpoilableModel } from '../../test/support/spoil-model.ts'
import { type FileContents, useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { inspectModelOn } from './inspect-model.ts'

const ROUNDS = 60
const folders = useTemporaryFolders()

function bytesOf(contents: FileContents): Uint8Array {
  return typeof contents === 'string' ? new TextEncoder().encode(contents) : contents
}

/** Flips, inserts and cuts in the first `end` bytes. */
function damage(bytes: Uint8Array, end: number, random: SeededRandom): Uint8Array {
  const out = bytes.slice()
  switch (random.below(4)) {
    case 0:
      return out.slice(0, random.below(end))
    case 1:
      out.copyWithin(random.below(end), random.below(end), random.below(end))
      return out
    default:
      for (let count = 1 + random.below(4); count > 0; count--) out[random.below(end)] = random.below(256)
      return out
  }
}

const SMALL = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'chat_template.json',
]

describe('inspectModelOn survives', () => {
  it.each(SMALL)('a damaged %s', async (name) => {
    const files: Record<string, FileContents> = Object.fromEntries(
      [...SMALL, 'model.safetensors'].map((file) => [
        file,
        new Uint8Array(readFileSync(goldenPath(`qwen2/${file}`))),
      ]),
    )
    const original = bytesOf(files[name]!)
    const random = new SeededRandom(name.length)
    for (let round = 0; round < ROUNDS; round++) {
      const damaged = { ...files, [name]: damage(original, Math.min(original.length, 4000), random) }
      const { findings } = await inspectModelOn(memoryFileHost('m', damaged), 'm', { weights: false })
      for (const { message } of findings) expect(message.length).toBeLessThan(2000)
    }
  })

  it('a damaged header of safetensors', async () => {
    const weights = new Uint8Array(readFileSync(goldenPath('qwen2/model.safetensors')))
    const config = readFileSync(goldenPath('qwen2/config.json'), 'utf8')
    const random = new SeededRandom(7)
    let described = 0
    for (let round = 0; round < ROUNDS; round++) {
      const files = { 'config.json': config, 'model.safetensors': damage(weights, 3000, random) }
      const { model, ok } = await inspectModelOn(memoryFileHost('m', files), 'm', {
        weights: round % 4 === 0,
      })
      expect(ok).toBe(false)
      if (model.parameters.total > 0) described++
    }
    // Much of a damaged file is still told.
    expect(described).toBeGreaterThan(ROUNDS / 10)
  })

  it('a damaged GGUF pair', async () => {
    const pair = ggufPair(folders.create(new SpoilableModel().files()))
    const random = new SeededRandom(8)
    for (const name of Object.keys(pair) as (keyof typeof pair)[]) {
      for (let round = 0; round < ROUNDS; round++) {
        const files = { ...pair, [name]: damage(pair[name], 20_000, random) }
        await inspectModelOn(memoryFileHost('m', files), 'm', { weights: false })
      }
    }
  })

  it.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['wrong types', '{"model_type": 3, "text_config": [], "vision_config": "x"}'],
    [
      'gigantic sizes',
      '{"model_type":"qwen2","hidden_size":268435456,"num_hidden_layers":268435456,"num_attention_heads":4,"intermediate_size":268435456,"vocab_size":268435456}',
    ],
  ])('a configuration of %s', async (_, config) => {
    const weights = new Uint8Array(readFileSync(goldenPath('qwen2/model.safetensors')))
    const files = { 'config.json': config, 'model.safetensors': weights }
    const { ok } = await inspectModelOn(memoryFileHost('m', files), 'm', { weights: false })
    expect(ok).toBe(false)
  })
})
