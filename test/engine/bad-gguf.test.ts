/**
 * Everything that may be wrong with a GGUF model or its projector ends in an EngineError that names the file, what was expected and found, and
 * the next step; nothing stays open behind it.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadModel } from '../../src/entry/index.node.ts'
import { encodeModel, entries, projectorModel, textModel } from '../support/gguf-from-checkpoint.ts'
import { goldenPath } from '../support/golden-model.ts'
import { expectNothingLeftOpen, refusal } from '../support/refusal.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()
const VISION = goldenPath('odd/smolvlm')
const TEXT = goldenPath('odd/qwen2')
const LLAVA = goldenPath('llava')

expectNothingLeftOpen()

describe('a GGUF model', () => {
  const text = (): ReturnType<typeof textModel> => textModel(TEXT)

  it('cut at any byte', async () => {
    const whole = encodeModel(textModel(TEXT))
    const folder = folders.create({ 'model.gguf': whole })
    await (await loadModel(join(folder, 'model.gguf'))).dispose()
    // Every field of the first keys, then ever larger steps through tokens, tensor records and data.
    for (let length = 0; length < whole.length; length += Math.max(1, Math.floor(length / 12))) {
      const cut = folders.create({ 'model.gguf': whole.subarray(0, length) })
      const found = await refusal(join(cut, 'model.gguf'))
      expect(found.code, `cut at ${length}`).toMatch(/^(format|file)\//)
      expect(found.message).toContain('DIR/model.gguf')
      expect(found.hint).toBeTruthy()
    }
  })

  it.each([
    'general.architecture',
    'qwen2.context_length',
    'qwen2.embedding_length',
    'qwen2.block_count',
    'qwen2.feed_forward_length',
    'qwen2.attention.head_count',
    'qwen2.attention.layer_norm_rms_epsilon',
    'tokenizer.ggml.model',
    'tokenizer.ggml.tokens',
    'tokenizer.ggml.merges',
  ])('without %s', async (key) => {
    const model = text()
    model.metadata.delete(key)
    const found = await refusal(join(folders.create({ 'model.gguf': encodeModel(model) }), 'model.gguf'))
    expect(found.code).toMatch(/^(config|text)\//)
    expect(found.message).toMatch(/^DIR\/model\.gguf: /)
    expect(found.message).toContain(key)
    expect(found.hint).toBeTruthy()
  })

  it.each([
    [
      'general.architecture',
      'string',
      'rwkv',
      'DIR/model.gguf: the architecture "rwkv" is not supported; supported are llama',
    ],
    ['general.architecture', 'u32', 5, 'metadata key "general.architecture" is 5 (u32); expected a string.'],
    [
      'qwen2.embedding_length',
      'u32',
      0,
      '"qwen2.embedding_length": expected a whole number from 1 to 268435456, found 0.',
    ],
    [
      'qwen2.embedding_length',
      'u64',
      2 ** 40,
      '"qwen2.embedding_length": expected a whole number from 1 to 268435456, found 1099511627776.',
    ],
    [
      'qwen2.embedding_length',
      'string',
      '56',
      'metadata key "qwen2.embedding_length" is "56" (string); expected a number.',
    ],
    ['qwen2.block_count', 'u32', 2 ** 28, 'the tensor "blk.2.attn_norm.weight" is missing'],
    [
      'qwen2.attention.head_count',
      'u32',
      0,
      '"qwen2.attention.head_count": expected a whole number from 1 to 268435456, found 0.',
    ],
    [
      'qwen2.attention.head_count_kv',
      'u32',
      2,
      '"qwen2.attention.head_count": expected a multiple of the 2 key/value heads, found 7.',
    ],
    [
      'qwen2.attention.key_length',
      'u32',
      2 ** 27,
      '"qwen2.rope.dimension_count": expected the head size 134217728, found 8.',
    ],
    [
      'qwen2.rope.dimension_count',
      'u32',
      4,
      '"qwen2.rope.dimension_count": expected the head size 8, found 4.',
    ],
    ['qwen2.context_length', 'u32', 0, '"qwen2.context_length": expected a whole number from 1'],
    [
      'qwen2.attention.layer_norm_rms_epsilon',
      'f32',
      Number.NaN,
      '"qwen2.attention.layer_norm_rms_epsilon": expected a number above 0, found NaN.',
    ],
    ['qwen2.rope.freq_base', 'f32', 0, '"qwen2.rope.freq_base": expected a number above 0, found 0.'],
    [
      'qwen2.rope.scaling.type',
      'string',
      'yarn',
      '"qwen2.rope.scaling.type": expected none or linear, found yarn.',
    ],
    [
      'tokenizer.ggml.model',
      'string',
      'rwkv',
      'tokenizer.ggml.model is "rwkv"; supported are "gpt2" and "llama".',
    ],
    ['tokenizer.ggml.pre', 'string', 'bloom', 'tokenizer.ggml.pre is "bloom"; supported are'],
    ['tokenizer.ggml.eos_token_id', 'u32', 99999, 'tokenizer.ggml.eos_token_id'],
  ] as const)('with %s (%s) = %j', async (key, type, value, message) => {
    const model = text()
    model.metadata.set(key, { type, value })
    const found = await refusal(join(folders.create({ 'model.gguf': encodeModel(model) }), 'model.gguf'))
    expect(found.message).toContain(message)
    expect(found.hint).toBeTruthy()
  })

  it('with another model’s tokenizer', async () => {
    const model = text()
    const tokens = model.metadata.get('tokenizer.ggml.tokens')!.value as string[]
    model.metadata.set('tokenizer.ggml.tokens', { type: 'string[]', value: [...tokens, '<x>', '<y>'] })
    model.metadata.delete('tokenizer.ggml.token_type')
    expect(
      await refusal(join(folders.create({ 'model.gguf': encodeModel(model) }), 'model.gguf')),
    ).toMatchObject({
      code: 'model/tokenizer-mismatch',
      message: 'DIR/model.gguf has token ids up to 2049, but the model has embeddings for 2048 tokens.',
    })
  })

  it('with a tensor of another shape, and without one', async () => {
    const model = text()
    model.tensors.set('blk.0.ffn_up.weight', { shape: [104, 55], data: new Float32Array(104 * 55) })
    expect(
      (await refusal(join(folders.create({ 'model.gguf': encodeModel(model) }), 'model.gguf'))).message,
    ).toBe(
      'DIR/model.gguf: tensor "blk.0.ffn_up.weight" has the shape (104, 55), but the configuration asks for (104, 56).',
    )
    model.tensors.delete('blk.0.ffn_up.weight')
    expect(
      (await refusal(join(folders.create({ 'model.gguf': encodeModel(model) }), 'model.gguf'))).message,
    ).toBe('DIR/model.gguf: the tensor "blk.0.ffn_up.weight" is missing; the configuration asks for it.')
  })

  it('with position divisors of another length', async () => {
    const model = text()
    model.tensors.set('rope_freqs.weight', { shape: [9], data: new Float32Array(9).fill(1) })
    expect(
      (await refusal(join(folders.create({ 'model.gguf': encodeModel(model) }), 'model.gguf'))).message,
    ).toContain('tensor "rope_freqs.weight" has the shape (9), but the configuration asks for (4).')
  })

  it('split, a part missing or of another model', async () => {
    const model = text()
    const all = [...model.tensors]
    const files: Record<string, Uint8Array> = {}
    for (let part = 0; part < 2; part++) {
      const split = entries({
        'split.no': ['u16', part],
        'split.count': ['u16', 2],
        'split.tensors.count': ['i32', all.length],
      })
      files[`m-0000${part + 1}-of-00002.gguf`] = encodeModel({
        metadata: new Map([...(part === 0 ? model.metadata : []), ...split]),
        tensors: new Map(all.filter((_, index) => index % 2 === part)),
      })
    }
    const first = 'm-00001-of-00002.gguf'
    const found = await refusal(join(folders.create({ [first]: files[first]! }), first))
    expect(found).toMatchObject({
      code: 'file/missing-shard',
      message: expect.stringContaining('m-00002-of-00002.gguf'),
    })
    const second = 'm-00002-of-00002.gguf'
    expect((await refusal(join(folders.create(files), second))).code).toMatch(/^format\//)
    expect(
      (await refusal(join(folders.create({ ...files, [second]: encodeModel(model) }), first))).code,
    ).toMatch(/^(format|config)\//)
  })
})

describe('a projector', () => {
  const smolvlm = (): Record<string, Uint8Array> => ({
    'model.gguf': encodeModel(textModel(VISION)),
    'mmproj.gguf': encodeModel(projectorModel(VISION)),
  })

  it('that does not fit is named in a warning when nobody asked for it, and refused when somebody did', async () => {
    const folder = folders.create({
      'model.gguf': encodeModel(textModel(VISION)),
      'mmproj.gguf': encodeModel(projectorModel(LLAVA)),
    })
    const model = await loadModel(join(folder, 'model.gguf'))
    expect(model.info.takesImages).toBe(false)
    expect(model.info.warnings).toEqual([
      'No projector beside model.gguf fits its width 48: mmproj.gguf (64). Pictures are off.',
    ])
    await model.dispose()
    expect(
      await refusal(join(folder, 'model.gguf'), { projector: join(folder, 'mmproj.gguf') }),
    ).toMatchObject({
      code: 'model/projector-mismatch',
      message: 'DIR/mmproj.gguf projects to 64 numbers, but the text model DIR/model.gguf takes 48.',
    })
  })

  it('that is broken is named in a warning when nobody asked for it', async () => {
    const files = smolvlm()
    const folder = folders.create({ ...files, 'mmproj.gguf': files['mmproj.gguf']!.subarray(0, 5000) })
    const model = await loadModel(join(folder, 'model.gguf'))
    expect(model.info.takesImages).toBe(false)
    const [warning] = model.info.warnings
    expect(warning!.replaceAll(folder, 'DIR')).toMatch(
      /^mmproj\.gguf was passed over: DIR\/mmproj\.gguf: tensor ".+" ends at byte \d+, but the file has 5000 bytes\.$/,
    )
    await model.dispose()
  })

  it.each([
    [
      'the model itself',
      'model.gguf',
      'model/not-a-projector',
      'DIR/model.gguf: expected a projector (general.architecture "clip"), found a model of architecture "llama".',
    ],
    ['a folder', '', 'file/is-directory', 'expected an mmproj file, found a directory.'],
    ['nothing', 'none.gguf', 'file/model-not-found', 'There is no model at DIR/none.gguf.'],
  ])('that is %s', async (_, name, code, message) => {
    const folder = folders.create(smolvlm())
    const found = await refusal(join(folder, 'model.gguf'), { projector: join(folder, name) })
    expect(found.code).toBe(code)
    expect(found.message).toContain(message)
  })

  it('that is taken for the model', async () => {
    const folder = folders.create(smolvlm())
    expect((await refusal(join(folder, 'mmproj.gguf'))).code).toBe('model/projector-alone')
  })

  it('one of two that fit alike', async () => {
    const files = smolvlm()
    const folder = folders.create({ ...files, 'zz-proj.gguf': files['mmproj.gguf']! })
    expect(await refusal(join(folder, 'model.gguf'))).toMatchObject({
      code: 'model/ambiguous-projector',
      hint: 'Name one with --mmproj.',
    })
  })

  it.each([
    ['clip.vision.embedding_length', 'u32', 73, 'config/bad-field'],
    ['clip.vision.patch_size', 'u32', 0, 'config/bad-field'],
    ['clip.vision.patch_size', 'u32', 46, 'config/bad-field'],
    ['clip.vision.image_size', 'u32', 2 ** 28, 'config/bad-field'],
    ['clip.vision.image_size', 'u32', 90, 'model/wrong-shape'],
    ['clip.vision.block_count', 'u32', 2 ** 27, 'model/missing-tensor'],
    ['clip.vision.attention.head_count', 'u32', 7, 'config/bad-field'],
    ['clip.vision.projector.scale_factor', 'u32', 2, 'config/bad-field'],
    ['clip.vision.projector.scale_factor', 'u32', 0, 'config/bad-field'],
    ['clip.vision.image_mean', 'f32[]', Float32Array.of(1), 'config/invalid-value'],
    ['clip.projector_type', 'string', 'resampler', 'model/unknown-architecture'],
    ['clip.projector_type', 'string', 'mlp', 'model/missing-tensor'],
  ] as const)('with %s (%s) = %s', async (key, type, value, code) => {
    const projector = projectorModel(VISION)
    projector.metadata.set(key, { type, value })
    const found = await refusal(
      join(folders.create({ ...smolvlm(), 'mmproj.gguf': encodeModel(projector) }), 'model.gguf'),
    )
    expect(found.message).toMatch(/mmproj\.gguf|"mm\.0\.weight"|"v\.blk/)
    expect(found.code).toBe(code)
  })

  it.each([
    'clip.vision.embedding_length',
    'clip.vision.attention.head_count',
    'clip.vision.feed_forward_length',
    'clip.vision.block_count',
    'clip.vision.image_size',
    'clip.vision.patch_size',
    'clip.vision.attention.layer_norm_epsilon',
    'clip.vision.image_mean',
    'clip.vision.image_std',
  ])('without %s', async (key) => {
    const projector = projectorModel(VISION)
    projector.metadata.delete(key)
    const found = await refusal(
      join(folders.create({ ...smolvlm(), 'mmproj.gguf': encodeModel(projector) }), 'model.gguf'),
    )
    expect(found).toMatchObject({
      code: 'config/missing-key',
      message: expect.stringContaining(`DIR/mmproj.gguf: metadata key "${key}" is missing`),
    })
  })
})
