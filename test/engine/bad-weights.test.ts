/**
 * Everything that may be wrong with the weights of a Hugging Face folder ends in an EngineError that names the file, what was expected and found, and
 * the next step; nothing stays open behind it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadModel } from '../../src/entry/index.node.ts'
import { writeSafetensors } from '../../src/formats/safetensors/write-safetensors.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { readTensors } from '../support/read-tensors.ts'
import { expectNothingLeftOpen, HTML_PAGE, LFS_POINTER, refusal } from '../support/refusal.ts'
import { type FileContents, useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()
const TEXT = goldenPath('odd/qwen2')

expectNothingLeftOpen()

describe('weights', () => {
  const weightsOf = (folder: string): Map<string, { shape: readonly number[]; data: Float32Array }> =>
    readTensors(join(folder, 'model.safetensors'))
  const encode = (
    tensors: ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }>,
  ): Uint8Array =>
    writeSafetensors(
      [...tensors].map(([name, { shape, data }]) => ({
        name,
        type: 'F32' as const,
        shape,
        data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      })),
    )
  const withWeights = (change: (tensors: ReturnType<typeof weightsOf>) => void, folder = TEXT): string => {
    const tensors = weightsOf(folder)
    change(tensors)
    return folders.copy(folder, { 'model.safetensors': encode(tensors) })
  }

  it('that lack a tensor', async () => {
    const found = await refusal(withWeights((tensors) => tensors.delete('model.layers.1.mlp.up_proj.weight')))
    expect(found).toEqual({
      code: 'model/missing-tensor',
      message: 'DIR: the tensor "blk.1.ffn_up.weight" is missing; the configuration asks for it.',
      hint: 'The download may be incomplete, or the configuration belongs to another model.',
    })
  })

  it.each([
    ['model.layers.0.self_attn.q_proj.weight', [56, 55]],
    ['model.layers.0.self_attn.q_proj.bias', [55]],
    ['model.norm.weight', [57]],
    ['model.embed_tokens.weight', [2047, 56]],
    ['model.layers.0.mlp.gate_proj.weight', [56, 104]],
    ['model.norm.weight', [0]],
    ['lm_head.weight', [0, 56]],
    ['model.norm.weight', []],
  ])('whose %s has the shape %j', async (name, shape) => {
    const length = shape.reduce((product, size) => product * size, 1)
    const found = await refusal(
      withWeights((tensors) => tensors.set(name, { shape, data: new Float32Array(length) })),
    )
    expect(found).toMatchObject({ code: 'model/wrong-shape' })
    expect(found.message).toContain(
      `model.safetensors: tensor "${name}" has the shape (${shape.join(', ')}), but the configuration asks for (`,
    )
  })

  it('in whole numbers, as other quantisation schemes store them', async () => {
    const tensors = [...weightsOf(TEXT)].map(([name, { shape, data }]) =>
      name.includes('q_proj.weight')
        ? { name, type: 'I8' as const, shape, data: new Uint8Array(data.length) }
        : {
            name,
            type: 'F32' as const,
            shape,
            data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
          },
    )
    const found = await refusal(folders.copy(TEXT, { 'model.safetensors': writeSafetensors(tensors) }))
    expect(found.code).toBe('format/unsupported-tensor-type')
    expect(found.message).toContain(
      'tensor "model.layers.0.self_attn.q_proj.weight" has the type I8, which is not supported.',
    )
  })

  it('that are not numbers: no answer, and the trace shows where', async () => {
    const folder = withWeights((tensors) =>
      tensors.get('model.layers.1.mlp.up_proj.weight')!.data.fill(Number.NaN, 0, 56),
    )
    const model = await loadModel(folder, { precision: 'f32' })
    const chat = model.chat()
    for (let turn = 0; turn < 2; turn++) {
      await expect(ask(chat, 'Hello')).rejects.toMatchObject({
        code: 'model/not-a-number',
        message: expect.stringMatching(
          /^After \d+ tokens 2048 of the 2048 logits are infinite or not a number \(NaN\); no answer can be chosen from them\.$/,
        ),
      })
    }
    const stages = await model.trace({ prompt: 'Hello', greedyTokens: 1 })
    const isBroken = (name: string): boolean =>
      stages.find((stage) => stage.name === name)!.data.some(Number.isNaN)
    expect(['hidden.0', 'hidden.1', 'hidden.2'].map(isBroken)).toEqual([false, false, true])
    await model.dispose()
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'of %d cannot be quantised; in float32 they end the same way',
    async (value) => {
      const folder = withWeights((tensors) => {
        tensors.get('model.layers.0.mlp.up_proj.weight')!.data[56 * 3 + 5] = value
      })
      for (const precision of ['q8', 'q4', 'auto'] as const) {
        expect(await refusal(folder, { precision })).toEqual({
          code: 'model/not-a-number',
          message:
            'DIR/model.safetensors: tensor "model.layers.0.mlp.up_proj.weight": element (3, 5) is infinite, too large or not a number (NaN), and cannot be quantised.',
          hint: 'The file is damaged; fetch it again. A trace at --precision f32 shows what it does.',
        })
      }
      const model = await loadModel(folder, { precision: 'f32' })
      await expect(ask(model.chat(), 'Hello')).rejects.toMatchObject({ code: 'model/not-a-number' })
      await model.dispose()
    },
  )

  it.each([
    ['a page', HTML_PAGE, 'DIR/model.safetensors: expected a safetensors file, found an HTML page.'],
    [
      'a pointer',
      LFS_POINTER,
      'DIR/model.safetensors: expected a safetensors file, found a Git LFS pointer, not the file itself.',
    ],
    ['empty', '', 'DIR/model.safetensors: expected a safetensors file, the file is empty.'],
  ])('whose file is %s', async (_, contents, message) => {
    expect(await refusal(folders.copy(TEXT, { 'model.safetensors': contents }))).toMatchObject({ message })
  })

  it('whose file is cut anywhere', async () => {
    const whole = readFileSync(join(TEXT, 'model.safetensors'))
    const header = 8 + Number(whole.readBigUInt64LE(0))
    for (const length of [
      1,
      7,
      8,
      9,
      100,
      header - 1,
      header,
      header + 1,
      whole.length - 4096,
      whole.length - 1,
    ]) {
      const found = await refusal(folders.copy(TEXT, { 'model.safetensors': whole.subarray(0, length) }))
      expect(found.code, `cut at ${length}`).toMatch(/^(format|file)\//)
      expect(found.message).toContain('DIR/model.safetensors')
    }
  })

  it('that overlap', async () => {
    const text = `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`
    const file = Buffer.alloc(8 + text.length + 12)
    file.writeBigUInt64LE(BigInt(text.length))
    file.write(text, 8)
    expect(await refusal(folders.copy(TEXT, { 'model.safetensors': file }))).toMatchObject({
      code: 'format/tensors-overlap',
      message:
        'DIR/model.safetensors: tensor "b" starts at byte 4 of the data; expected 8, the end of tensor "a".',
    })
  })

  describe('in shards', () => {
    const shards = (change: (files: Record<string, FileContents>) => void): string => {
      const all = [...weightsOf(TEXT)]
      const parts = [0, 1].map((part) => all.filter((_, index) => index % 2 === part))
      const name = (part: number): string => `model-0000${part + 1}-of-00002.safetensors`
      const index = {
        weight_map: Object.fromEntries(
          parts.flatMap((own, part) => own.map(([tensor]) => [tensor, name(part)])),
        ),
      }
      const files: Record<string, FileContents> = { 'model.safetensors.index.json': JSON.stringify(index) }
      for (const [part, own] of parts.entries()) files[name(part)] = encode(new Map(own))
      change(files)
      return folders.copy(TEXT, { 'model.safetensors': undefined, ...files })
    }

    it('load as one, also by the name of any', async () => {
      for (const name of ['', 'model-00002-of-00002.safetensors']) {
        const model = await loadModel(
          join(
            shards(() => {}),
            name,
          ),
        )
        expect(model.info.fileBytes).toBe(
          [...weightsOf(TEXT).values()].reduce((sum, { data }) => sum + data.byteLength, 0),
        )
        await model.dispose()
      }
    })

    it('one missing', async () => {
      const found = await refusal(shards((files) => delete files['model-00002-of-00002.safetensors']))
      expect(found.code).toBe('file/missing-shard')
      expect(found.message).toContain('model-00002-of-00002.safetensors')
    })

    it('one cut', async () => {
      const found = await refusal(
        shards((files) => {
          files['model-00002-of-00002.safetensors'] = (
            files['model-00002-of-00002.safetensors'] as Uint8Array
          ).subarray(0, 900)
        }),
      )
      expect(found.message).toContain('DIR/model-00002-of-00002.safetensors')
    })

    it.each([
      'null',
      '{}',
      '{"weight_map": []}',
      '{"weight_map": {"a": 5}}',
      '{"weight_map": {"a": "../../etc/passwd"}}',
      '{"weight_map": {}}',
    ])('index %s', async (contents) => {
      const found = await refusal(
        shards((files) => {
          files['model.safetensors.index.json'] = contents
        }),
      )
      expect(found.code).toMatch(/^format\//)
      expect(found.message).toContain('model.safetensors.index.json')
    })
  })
})
