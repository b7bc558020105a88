import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { ModelConfig } from './model-config.ts'
import { parseCheckpoint } from './registry.ts'

type Json = Record<string, unknown>

function parse(config: Json): ModelConfig {
  return parseCheckpoint({ container: 'safetensors', name: 'm', config, tensors: new Map() }).config
}

function golden(model: string): Json {
  return JSON.parse(readFileSync(goldenPath(`${model}/config.json`), 'utf8')) as Json
}

describe('spellings of config.json', () => {
  it('rope_theta beside the sizes, as before Transformers 5', () => {
    const { rope_parameters: rope, ...rest } = golden('qwen3')
    const { rope_theta } = rope as Json
    expect(parse({ ...rest, rope_theta })).toEqual(parse(golden('qwen3')))
    expect(parse({ ...rest, rope_theta, rope_scaling: null })).toEqual(parse(golden('qwen3')))
  })

  it('scaling in rope_scaling, its kind under "rope_type" or "type"', () => {
    const { rope_parameters: rope, ...rest } = golden('llama3')
    const { rope_theta, rope_type, ...scaling } = rope as Json
    for (const kind of ['rope_type', 'type']) {
      const config = { ...rest, rope_theta, rope_scaling: { ...scaling, [kind]: rope_type } }
      expect(parse(config)).toEqual(parse(golden('llama3')))
    }
  })

  it('no head_dim and no key/value heads', () => {
    const { head_dim: _, ...rest } = golden('llama3')
    expect(parse(rest)).toEqual(parse(golden('llama3')))
    const { num_key_value_heads: __, ...fewer } = rest
    expect(parse(fewer).decoder).toMatchObject({ heads: 4, kvHeads: 4, headDim: 16 })
  })

  it('smolvlm is idefics3', () => {
    const config = golden('smolvlm')
    expect(parse({ ...config, model_type: 'smolvlm' })).toEqual({
      ...parse(config),
      architecture: 'smolvlm',
    })
  })
})

describe('published configurations', () => {
  it('SmolVLM2-500M: vision keys left out have the reference’s values', () => {
    const text = {
      model_type: 'llama',
      hidden_size: 960,
      intermediate_size: 2560,
      num_hidden_layers: 32,
      num_attention_heads: 15,
      num_key_value_heads: 5,
      head_dim: 64,
      rope_theta: 100000,
      rms_norm_eps: 1e-5,
      vocab_size: 49280,
      max_position_embeddings: 8192,
    }
    const vision = { hidden_size: 768, num_attention_heads: 12, image_size: 512, patch_size: 16 }
    const {
      decoder,
      vision: tower,
      projector,
    } = parse({
      model_type: 'smolvlm',
      scale_factor: 4,
      tie_word_embeddings: false,
      text_config: text,
      vision_config: vision,
    })
    expect(tower).toEqual({
      dim: 768,
      layers: 12,
      heads: 12,
      hiddenDim: 3072,
      imageSize: 512,
      patchSize: 16,
      epsilon: 1e-6,
      activation: 'geluTanh',
      patchBias: true,
      classToken: false,
      preNorm: false,
      postNorm: true,
    })
    expect(projector).toEqual({ kind: 'pixel-shuffle', factor: 4 })
    expect(decoder).toMatchObject({ dim: 960, heads: 15, kvHeads: 5, headDim: 64, tiedEmbeddings: false })
  })

  it('the 2.2B models: heads of 72, 27 x 27 patches, a feed-forward layer of 4304', () => {
    const { vision, projector } = parse({
      model_type: 'idefics3',
      scale_factor: 3,
      text_config: {
        hidden_size: 2048,
        intermediate_size: 8192,
        num_hidden_layers: 24,
        num_attention_heads: 32,
        vocab_size: 49155,
      },
      vision_config: {
        hidden_size: 1152,
        intermediate_size: 4304,
        num_hidden_layers: 27,
        num_attention_heads: 16,
        image_size: 384,
        patch_size: 14,
      },
    })
    expect(vision).toMatchObject({ dim: 1152, heads: 16, hiddenDim: 4304, layers: 27 })
    expect(projector).toEqual({ kind: 'pixel-shuffle', factor: 3 })
  })

  it('LLaVA-1.5: a text_config that leaves out what LlamaConfig has', () => {
    const { decoder, vision, projector } = parse({
      model_type: 'llava',
      image_token_index: 32000,
      projector_hidden_act: 'gelu',
      vision_feature_layer: -2,
      vision_feature_select_strategy: 'default',
      text_config: {
        model_type: 'llama',
        max_position_embeddings: 4096,
        rms_norm_eps: 1e-5,
        vocab_size: 32064,
      },
      vision_config: {
        hidden_size: 1024,
        image_size: 336,
        intermediate_size: 4096,
        model_type: 'clip_vision_model',
        num_attention_heads: 16,
        num_hidden_layers: 24,
        patch_size: 14,
        projection_dim: 768,
      },
    })
    expect(decoder).toMatchObject({ dim: 4096, hiddenDim: 11008, layers: 32, heads: 32, vocabSize: 32064 })
    expect(vision).toMatchObject({
      layers: 23,
      epsilon: 1e-5,
      activation: 'geluQuick',
      classToken: true,
      preNorm: true,
    })
    expect(projector).toEqual({ kind: 'mlp', hiddenDim: 4096, activation: 'geluErf', bias: true })
  })
})

describe('names of tensors', () => {
  const source = createMemorySource('m', new Uint8Array(4))
  const rename = (names: readonly string[]): string[] => {
    const tensors = new Map<string, TensorInfo>(
      names.map((name) => [name, { name, type: 'F32', shape: [1], byteOffset: 0, byteLength: 4, source }]),
    )
    const config = golden('llava')
    return [...parseCheckpoint({ container: 'safetensors', name: 'm', config, tensors }).tensors.keys()]
  }

  it.each([
    ['model.embed_tokens.weight', 'token_embd.weight'],
    ['model.text_model.embed_tokens.weight', 'token_embd.weight'],
    ['language_model.model.embed_tokens.weight', 'token_embd.weight'],
    ['model.language_model.embed_tokens.weight', 'token_embd.weight'],
    ['lm_head.weight', 'output.weight'],
    ['language_model.lm_head.weight', 'output.weight'],
    ['model.layers.12.self_attn.k_proj.bias', 'blk.12.attn_k.bias'],
    ['model.layers.0.self_attn.q_norm.weight', 'blk.0.attn_q_norm.weight'],
    ['model.text_model.layers.3.post_attention_layernorm.weight', 'blk.3.ffn_norm.weight'],
    ['model.norm.weight', 'output_norm.weight'],
    ['model.vision_model.encoder.layers.1.self_attn.out_proj.weight', 'v.blk.1.attn_out.weight'],
    ['vision_tower.vision_model.encoder.layers.1.mlp.fc1.bias', 'v.blk.1.ffn_up.bias'],
    ['model.vision_tower.embeddings.class_embedding', 'v.class_embd'],
    ['vision_tower.vision_model.pre_layrnorm.weight', 'v.pre_ln.weight'],
    ['model.connector.modality_projection.proj.weight', 'mm.model.fc.weight'],
    ['model.multi_modal_projector.linear_2.bias', 'mm.2.bias'],
  ])('%s is %s, however often it is renamed', (name, expected) => {
    expect(rename([name])).toEqual([expected])
    expect(rename(rename([name]))).toEqual([expected])
  })

  it('that belong to nothing are left out', () => {
    expect(rename(['model.layers.0.self_attn.rotary_emb.inv_freq', 'optimizer.step', 'x'])).toEqual([])
  })
})
