/**
 * Everything that may be wrong with the configuration files of a Hugging Face folder ends in an EngineError that names the file, what was expected and found, and
 * the next step; nothing stays open behind it.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadModel } from '../../src/entry/index.node.ts'
import { readJson, withField } from '../support/changed-folder.ts'
import { goldenPath } from '../support/golden-model.ts'
import { expectNothingLeftOpen, HTML_PAGE, LFS_POINTER, refusal } from '../support/refusal.ts'
import { type FileContents, useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()
const VISION = goldenPath('odd/smolvlm')
const TEXT = goldenPath('odd/qwen2')
const LLAVA = goldenPath('llava')

expectNothingLeftOpen()

describe('what is named is no model', () => {
  it('a path that leads nowhere', async () => {
    expect(await refusal('/nowhere/at/all')).toEqual({
      code: 'file/model-not-found',
      message: 'There is no model at /nowhere/at/all.',
      hint: 'Give a model folder (config.json, tokenizer.json, *.safetensors) or a .gguf file.',
    })
  })

  it.each<[string, Record<string, FileContents>, string, string, string]>([
    [
      'an empty folder',
      {},
      '',
      'file/no-model',
      'DIR holds no model: expected config.json or a .gguf file, found an empty folder.',
    ],
    [
      'a folder of other things',
      { 'a.txt': 'a', 'b.jpg': 'b' },
      '',
      'file/no-model',
      'DIR holds no model: expected config.json or a .gguf file, found a.txt, b.jpg.',
    ],
    [
      'a pickle in a folder',
      { 'pytorch_model.bin': 'PK' },
      '',
      'format/pickle',
      'DIR/pytorch_model.bin is a pickle file, which can run programs when it is opened; it is not read.',
    ],
    [
      'a pickle beside a configuration',
      { 'pytorch_model.bin': 'PK', 'config.json': '{}' },
      '',
      'format/pickle',
      'DIR/pytorch_model.bin is a pickle file, which can run programs when it is opened; it is not read.',
    ],
    [
      'a pickle itself',
      { 'model.pt': 'PK' },
      'model.pt',
      'format/pickle',
      'DIR/model.pt is a pickle file, which can run programs when it is opened; it is not read.',
    ],
    [
      'text named .gguf',
      { 'a.gguf': 'Hello, this is text.' },
      'a.gguf',
      'format/wrong-kind',
      'DIR/a.gguf: expected a GGUF file, found a text file.',
    ],
    [
      'an empty .gguf',
      { 'a.gguf': '' },
      'a.gguf',
      'format/wrong-kind',
      'DIR/a.gguf: expected a GGUF file, the file is empty.',
    ],
    [
      'a page named .gguf',
      { 'a.gguf': HTML_PAGE },
      'a.gguf',
      'format/wrong-kind',
      'DIR/a.gguf: expected a GGUF file, found an HTML page.',
    ],
    [
      'a pointer named .gguf',
      { 'a.gguf': LFS_POINTER },
      'a.gguf',
      'format/wrong-kind',
      'DIR/a.gguf: expected a GGUF file, found a Git LFS pointer, not the file itself.',
    ],
    [
      'text named .gguf in a folder',
      { 'a.gguf': 'Hello' },
      '',
      'format/wrong-kind',
      'DIR/a.gguf: expected a GGUF file, found a text file.',
    ],
  ])('%s', async (_, files, name, code, message) => {
    const found = await refusal(join(folders.create(files), name))
    expect(found).toMatchObject({ code, message })
    expect(found.hint).toBeTruthy()
  })
})

describe('a Hugging Face folder', () => {
  it.each([
    ['config.json', 'DIR holds no model: expected config.json or a .gguf file'],
    ['tokenizer.json', 'DIR: tokenizer.json is missing.'],
    [
      'preprocessor_config.json',
      'The model says nothing about pictures: expected preprocessor_config.json, found none.',
    ],
    ['model.safetensors', 'DIR: expected model.safetensors or model.safetensors.index.json, found neither.'],
  ])('without %s', async (file, message) => {
    const found = await refusal(
      folders.copy(VISION, { 'expected.safetensors': undefined, [file]: undefined }),
    )
    expect(found.message).toContain(message)
    expect(found.hint).toBeTruthy()
  })

  const JSON_FILES = [
    'config.json',
    'tokenizer.json',
    'preprocessor_config.json',
    'tokenizer_config.json',
    'generation_config.json',
    'processor_config.json',
    'chat_template.json',
  ]
  it.each(
    JSON_FILES.flatMap(
      (file) =>
        [
          [file, 'a page', HTML_PAGE, `DIR/${file}: expected a JSON file, found an HTML page.`],
          [
            file,
            'a pointer',
            LFS_POINTER,
            `DIR/${file}: expected a JSON file, found a Git LFS pointer, not the file itself.`,
          ],
          [file, 'cut off', '{"a": ', `DIR/${file} is not valid JSON: `],
        ] as const,
    ),
  )('whose %s is %s', async (file, _, contents, message) => {
    const found = await refusal(folders.copy(VISION, { [file]: contents }))
    expect(found.message).toContain(message)
    expect(found.hint).toBeTruthy()
  })

  it.each([
    'null',
    '[]',
    '7',
    '"text"',
    '{}',
    '[null]',
    '{"model_type": 5}',
    '{"model_type": "constructor"}',
    '{"model_type": "__proto__"}',
    '{"model_type":"idefics3","text_config":[],"vision_config":7}',
    '{"model_type":"llama","hidden_size":"64"}',
  ])('whose config.json is %s', async (contents) => {
    const found = await refusal(folders.copy(VISION, { 'config.json': contents }))
    expect(found.code).toMatch(/^(config|model)\//)
    expect(found.message).toMatch(/^DIR\/config\.json/)
    expect(found.hint).toBeTruthy()
  })

  it.each([
    'null',
    '[]',
    '7',
    '{}',
    '{"model": null}',
    '{"model": {"type": "BPE"}}',
    '{"model": {"type": "WordPiece", "vocab": {}}}',
  ])('whose tokenizer.json is %s', async (contents) => {
    const found = await refusal(folders.copy(VISION, { 'tokenizer.json': contents }))
    expect(found.code).toMatch(/^text\//)
    expect(found.message).toContain('tokenizer.json')
  })

  it.each([
    '[]',
    '7',
    '{"image_processor_type": "ViTImageProcessor"}',
    '{"size": 0}',
    '{"size": {"longest_edge": -1}}',
    '{"max_image_size": {"longest_edge": 1e9}}',
    '{"image_mean": [1]}',
    '{"do_resize": "yes"}',
    '{"resample": 99, "image_processor_type": "Idefics3ImageProcessor"}',
  ])('whose preprocessor_config.json is %s', async (contents) => {
    const found = await refusal(folders.copy(VISION, { 'preprocessor_config.json': contents }))
    expect(found.message).toContain('preprocessor_config.json')
    expect(found.hint).toBeTruthy()
  })
})

describe('a configuration', () => {
  it.each([
    [TEXT, 'model_type'],
    [TEXT, 'hidden_size'],
    [TEXT, 'num_attention_heads'],
    [TEXT, 'num_hidden_layers'],
    [TEXT, 'intermediate_size'],
    [TEXT, 'vocab_size'],
    [VISION, 'model_type'],
  ])('of %s without %s', async (folder, field) => {
    expect(await refusal(withField(folders, folder, 'config.json', field, undefined))).toEqual({
      code: 'config/bad-field',
      message: expect.stringMatching(
        new RegExp(`^DIR/config\\.json: "${field}": expected .+, found nothing\\.$`),
      ),
      hint: 'The configuration is incomplete; fetch it again from the model repository.',
    })
  })

  it.each([
    ['vision_config.hidden_size', 'model/wrong-shape'],
    ['vision_config.intermediate_size', 'model/wrong-shape'],
    ['vision_config.num_attention_heads', 'config/bad-field'],
    ['vision_config.patch_size', 'config/bad-field'],
    ['vision_config.image_size', 'config/bad-field'],
    ['vision_config.num_hidden_layers', 'model/missing-tensor'],
    ['text_config.hidden_size', 'model/wrong-shape'],
    ['text_config.vocab_size', 'model/wrong-shape'],
    ['text_config.num_hidden_layers', 'model/missing-tensor'],
    ['scale_factor', 'config/bad-field'],
  ])('whose %s is missing, so that the default of the reference counts', async (field, code) => {
    expect((await refusal(withField(folders, VISION, 'config.json', field, undefined))).code).toBe(code)
  })

  it.each([
    ['hidden_size', 2 ** 31, '"hidden_size": expected a whole number from 1 to 268435456, found 2147483648.'],
    [
      'hidden_size',
      2 ** 28,
      '"num_attention_heads": expected heads whose size is a multiple of 4 (it would be 38347922), found 7.',
    ],
    [
      'num_hidden_layers',
      1e9,
      '"num_hidden_layers": expected a whole number from 1 to 268435456, found 1000000000.',
    ],
    [
      'num_hidden_layers',
      2 ** 28,
      'the tensor "blk.2.attn_norm.weight" is missing; the configuration asks for it.',
    ],
    ['vocab_size', 2 ** 28, 'has the shape (2048, 56), but the configuration asks for (268435456, 56).'],
    ['intermediate_size', 2 ** 28, 'but the configuration asks for (268435456, 56).'],
    [
      'head_dim',
      2 ** 28,
      '"num_attention_heads": expected heads of at most 2730 elements (it would be 268435456), found 7.',
    ],
    [
      'head_dim',
      6,
      '"num_attention_heads": expected heads whose size is a multiple of 4 (it would be 6), found 7.',
    ],
    [
      'num_attention_heads',
      2 ** 28,
      '"num_attention_heads": expected heads whose size is a multiple of 4 (it would be 0), found 268435456.',
    ],
    [
      'num_attention_heads',
      0,
      '"num_attention_heads": expected a whole number from 1 to 268435456, found 0.',
    ],
    [
      'num_key_value_heads',
      3,
      '"num_attention_heads": expected a multiple of the 3 key/value heads, found 7.',
    ],
    [
      'max_position_embeddings',
      0,
      '"max_position_embeddings": expected a whole number from 1 to 268435456, found 0.',
    ],
    ['rms_norm_eps', -1, '"rms_norm_eps": expected a number above 0, found -1.'],
    ['rms_norm_eps', '1e-6', '"rms_norm_eps": expected a number above 0, found "1e-6".'],
    ['hidden_act', 'relu', '"hidden_act": expected one of silu, swish, found "relu".'],
    ['use_sliding_window', true, '"use_sliding_window": expected false, found true.'],
    [
      'rope_parameters',
      { rope_type: 'yarn', rope_theta: 10000 },
      '"rope_parameters.rope_type": expected one of default, linear, llama3, found "yarn".',
    ],
    [
      'rope_parameters',
      { rope_type: 'llama3', rope_theta: 10000, factor: 8 },
      '"rope_parameters.low_freq_factor": expected a number above 0, found nothing.',
    ],
    [
      'model_type',
      'mamba',
      'the architecture "mamba" is not supported; supported are llama, qwen2, qwen3, idefics3, smolvlm, llava.',
    ],
    ['model_type', 'mlp', 'the architecture "mlp" is not supported'],
  ])('with %s = %j', async (field, value, message) => {
    const found = await refusal(withField(folders, TEXT, 'config.json', field, value))
    expect(found.message).toContain(message)
    expect(found.hint).toBeTruthy()
  })

  it.each([
    ['vision_config.image_size', 46, 'model/frame-size'],
    ['vision_config.image_size', 2 ** 28, 'config/bad-field'],
    ['vision_config.patch_size', 1, 'model/frame-tokens'],
    ['vision_config.patch_size', 15, 'model/wrong-shape'],
    ['vision_config.num_attention_heads', 5, 'config/bad-field'],
    ['vision_config.hidden_act', 'relu', 'config/bad-field'],
    ['scale_factor', 2, 'config/bad-field'],
    ['scale_factor', 1, 'model/frame-tokens'],
    ['image_token_id', 5, 'model/tokenizer-mismatch'],
    ['text_config.model_type', 'gemma', 'model/unknown-architecture'],
    ['text_config', null, 'model/wrong-shape'],
  ])('of a vision model with %s = %j', async (field, value, code) => {
    expect((await refusal(withField(folders, VISION, 'config.json', field, value))).code).toBe(code)
  })

  it.each([
    ['config.json', 'vision_feature_layer', -9, 'expected at least the feature layer -9, found 3'],
    [
      'config.json',
      'vision_feature_select_strategy',
      'full',
      '"vision_feature_select_strategy": expected "default", found "full"',
    ],
    ['config.json', 'projector_hidden_act', 'relu', '"projector_hidden_act": expected one of'],
    [
      'preprocessor_config.json',
      'crop_size',
      { height: 28, width: 28 },
      'pictures are cut to 28 x 28 pixels (preprocessor_config.json), but the vision tower takes 56 x 56 pixels (config.json).',
    ],
    [
      'preprocessor_config.json',
      'do_center_crop',
      false,
      'pictures are cut to no fixed size (preprocessor_config.json)',
    ],
  ])('of LLaVA: %s with %s = %j', async (file, field, value, message) => {
    expect((await refusal(withField(folders, LLAVA, file, field, value))).message).toContain(message)
  })
})

describe('a tokenizer', () => {
  it('with more tokens than the model has embeddings', async () => {
    const tokenizer = readJson(TEXT, 'tokenizer.json') as { added_tokens: unknown[] }
    tokenizer.added_tokens.push({
      id: 4000,
      content: '<more>',
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })
    expect(await refusal(folders.copy(TEXT, { 'tokenizer.json': JSON.stringify(tokenizer) }))).toEqual({
      code: 'model/tokenizer-mismatch',
      message: 'DIR/tokenizer.json has token ids up to 4000, but the model has embeddings for 2048 tokens.',
      hint: 'The tokenizer belongs to another model; fetch the files of one release.',
    })
  })

  it('much smaller than the model is named in a warning', async () => {
    const tokenizer = readJson(TEXT, 'tokenizer.json') as {
      model: { vocab: Record<string, number>; merges: unknown[] }
    }
    const { vocab } = tokenizer.model
    for (const [token, id] of Object.entries(vocab)) if (id >= 1000) delete vocab[token]
    tokenizer.model.merges = []
    const folder = folders.copy(TEXT, { 'tokenizer.json': JSON.stringify(tokenizer) })
    const model = await loadModel(folder)
    expect(model.info.warnings).toEqual([
      `${folder}/tokenizer.json has 1000 tokens, but the model has embeddings for 2048; the tokenizer may belong to another model.`,
    ])
    await model.dispose()
  })

  it('of another vision model', async () => {
    const text = JSON.stringify(readJson(VISION, 'tokenizer.json')).replaceAll('<image>', '<picture>')
    const settings = JSON.stringify(readJson(VISION, 'tokenizer_config.json')).replaceAll(
      '<image>',
      '<picture>',
    )
    expect(
      await refusal(folders.copy(VISION, { 'tokenizer.json': text, 'tokenizer_config.json': settings })),
    ).toMatchObject({
      code: 'model/tokenizer-mismatch',
      message:
        'DIR/tokenizer.json: expected "<image>" to be token 4, as config.json says; found no such token.',
    })
  })

  it('with a token twice', async () => {
    const tokenizer = readJson(TEXT, 'tokenizer.json') as {
      added_tokens: { content: string; id: number }[]
    }
    tokenizer.added_tokens.push({ ...tokenizer.added_tokens[0]!, id: 9 })
    const found = await refusal(folders.copy(TEXT, { 'tokenizer.json': JSON.stringify(tokenizer) }))
    expect(found.code).toMatch(/^text\//)
    expect(found.message).toContain('DIR/tokenizer.json')
  })
})
