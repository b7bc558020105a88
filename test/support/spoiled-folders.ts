/** Ways to spoil a Hugging Face folder, each with the finding that names it. */
import type { FindingCode } from '../../src/inspect/finding.ts'
import {
  constant,
  EMBEDDING,
  editHeader,
  normal,
  orthogonal,
  PROJECTOR,
  poke,
  type SpoilableModel,
  shuffledRows,
  uniform,
} from './spoil-model.ts'

export interface Spoil {
  readonly name: string
  readonly code: FindingCode
  /** Codes that follow from the same fault. */
  readonly also?: readonly FindingCode[]
  readonly folder?: string
  readonly spoil: (model: SpoilableModel) => void
}

const PROJECTOR_TENSOR = /connector/
const VISION_MATRICES = /vision_model.*(proj|fc\d|patch_embedding)\.weight/
const DECODER_MATRICES = /text_model\.layers.*proj\.weight/

export const SPOILED_FOLDERS: readonly Spoil[] = [
  {
    name: 'a projector of normal random numbers',
    code: 'weights/untrained-projector',
    spoil: (model) => model.fill(PROJECTOR_TENSOR, normal(0.02)),
  },
  {
    name: 'a projector as PyTorch initialises linear layers',
    code: 'weights/untrained-projector',
    spoil: (model) => model.fill(PROJECTOR_TENSOR, uniform(1 / Math.sqrt(768))),
  },
  {
    name: 'an orthogonal projector',
    code: 'weights/untrained-projector',
    spoil: (model) => model.fill(PROJECTOR_TENSOR, orthogonal()),
  },
  {
    name: 'a constant projector',
    code: 'weights/untrained-projector',
    spoil: (model) => model.fill(PROJECTOR_TENSOR, constant(0.01)),
  },
  {
    name: 'a projector of another model',
    code: 'model/foreign-projector',
    spoil: (model) => model.fill(PROJECTOR_TENSOR, shuffledRows()),
  },
  {
    name: 'an untrained vision tower below a trained projector',
    code: 'weights/untrained-vision',
    spoil: (model) => model.fill(VISION_MATRICES, normal(0.04)),
  },
  {
    name: 'an untrained decoder',
    code: 'weights/untrained-layers',
    spoil: (model) => model.fill(DECODER_MATRICES, normal(0.02)),
  },
  {
    name: 'an untrained embedding',
    code: 'weights/untrained-embedding',
    spoil: (model) => model.fill(/embed_tokens/, normal(1)),
  },
  {
    name: 'one layer put back to random numbers',
    code: 'weights/untrained-tensors',
    spoil: (model) => model.fill(/text_model\.layers\.1\.mlp.*weight/, normal(0.05)),
  },
  {
    name: 'norms that never moved',
    code: 'weights/initial-norms',
    spoil: (model) => model.fill(/text_model\.layers.*layernorm/, constant(1)),
  },
  {
    name: 'a layer copied over another',
    code: 'weights/identical-tensors',
    spoil: (model) => {
      for (const [name, values] of [...model.tensors])
        if (name.includes('text_model.layers.0.'))
          model.tensors.set(name.replace('layers.0.', 'layers.1.'), values)
    },
  },
  {
    name: 'NaN in a matrix',
    code: 'weights/not-finite',
    spoil: (model) => model.fill(/layers\.0\.mlp\.up_proj/, poke(Number.NaN)),
  },
  {
    name: 'infinity in a norm',
    code: 'weights/not-finite',
    spoil: (model) => model.fill(/text_model\.norm\.weight/, poke(Number.POSITIVE_INFINITY, 100)),
  },
  {
    name: 'a matrix of zeros',
    code: 'weights/all-zero',
    also: ['weights/untrained-tensors'],
    spoil: (model) => model.fill(/text_model\.layers\.1\.self_attn\.o_proj/, constant(0)),
  },
  {
    name: 'absurd values',
    code: 'weights/absurd-values',
    spoil: (model) => {
      const { shape, data } = model.tensors.get('model.text_model.norm.weight')!
      model.tensors.delete('model.text_model.norm.weight')
      model.tensors.set('model.text_model.norm.weight', { shape, data: poke(3e30, 100)(data) })
      model.raw['model.safetensors'] = withFloat32(model, 'model.text_model.norm.weight')
    },
  },
  {
    name: 'a file that was cut',
    code: 'format/truncated',
    spoil: (model) => {
      model.raw['model.safetensors'] = model.weights().slice(0, -1_000_000)
    },
  },
  {
    name: 'overlapping tensors',
    code: 'format/tensors-overlap',
    also: ['format/unused-bytes', 'weights/identical-tensors'],
    spoil: (model) => {
      model.raw['model.safetensors'] = editHeader(model.weights(), (header) => {
        const name = 'model.text_model.layers.0.self_attn.'
        header[`${name}k_proj.weight`]!['data_offsets'] = header[`${name}v_proj.weight`]!['data_offsets']
        return undefined
      })
    },
  },
  {
    name: 'a name given twice',
    code: 'format/duplicate-name',
    spoil: (model) => {
      model.raw['model.safetensors'] = editHeader(model.weights(), (header) => {
        const text = JSON.stringify(header)
        const record = JSON.stringify(header[PROJECTOR])
        return `${text.slice(0, -1)},${JSON.stringify(PROJECTOR)}:${record}}`
      })
    },
  },
  {
    name: 'a shape that does not fit its bytes',
    code: 'format/bad-tensor',
    also: ['format/unused-bytes'],
    spoil: (model) => {
      model.raw['model.safetensors'] = editHeader(model.weights(), (header) => {
        header[PROJECTOR]!['shape'] = [256, 767]
        return undefined
      })
    },
  },
  {
    name: 'an HTML page as weights',
    code: 'file/html-page',
    spoil: (model) => {
      model.raw['model.safetensors'] = '<!DOCTYPE html><html><title>Sign in</title></html>'
    },
  },
  {
    name: 'a Git LFS pointer as weights',
    code: 'file/lfs-pointer',
    spoil: (model) => {
      model.raw['model.safetensors'] =
        'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 18427752\n'
    },
  },
  {
    name: 'an HTML page as configuration',
    code: 'file/html-page',
    spoil: (model) => {
      model.raw['config.json'] = '<html><body>404</body></html>'
    },
  },
  {
    name: 'a pickle instead of safetensors',
    code: 'file/pickle',
    spoil: (model) => {
      model.raw['model.safetensors'] = undefined
      model.raw['pytorch_model.bin'] = Uint8Array.of(0x80, 2, 0x8a, 10)
    },
  },
  {
    name: 'a pickle under the name of safetensors',
    code: 'file/pickle',
    spoil: (model) => {
      model.raw['model.safetensors'] = new TextEncoder().encode('PK\x03\x04 archive/data.pkl')
    },
  },
  {
    name: 'an empty weight file',
    code: 'file/empty',
    spoil: (model) => {
      model.raw['model.safetensors'] = ''
    },
  },
  {
    name: 'no weights',
    code: 'file/no-weights',
    spoil: (model) => {
      model.raw['model.safetensors'] = undefined
    },
  },
  {
    name: 'no configuration',
    code: 'file/no-config',
    spoil: (model) => {
      model.raw['config.json'] = undefined
    },
  },
  {
    name: 'half a configuration',
    code: 'file/not-json',
    spoil: (model) => {
      model.raw['config.json'] = '{"model_type": "idefics3", "text_config": {'
    },
  },
  {
    name: 'a configuration without a field',
    code: 'config/bad-field',
    spoil: (model) => {
      model.section('text_config')['num_attention_heads'] = 'four'
    },
  },
  {
    name: 'an unknown architecture',
    code: 'model/unknown-architecture',
    spoil: (model) => {
      model.config['model_type'] = 'mamba-vision'
    },
  },
  {
    name: 'a missing shard',
    code: 'file/missing-shard',
    spoil: (model) => {
      const isFirst = (name: string): boolean => name.includes('text_model')
      model.raw['model.safetensors'] = undefined
      model.raw['model-00001-of-00002.safetensors'] = model.weights(isFirst)
      model.raw['model.safetensors.index.json'] = indexOf(model, isFirst)
    },
  },
  {
    name: 'a shard of another version',
    code: 'format/shard-mismatch',
    also: ['model/missing-tensor'],
    spoil: (model) => {
      const isFirst = (name: string): boolean => name.includes('text_model')
      model.raw['model.safetensors'] = undefined
      model.raw['model-00001-of-00002.safetensors'] = model.weights(isFirst)
      model.raw['model-00002-of-00002.safetensors'] = model.weights(
        (name) => !isFirst(name) && !/layers\.1/.test(name),
      )
      model.raw['model.safetensors.index.json'] = indexOf(model, isFirst)
    },
  },
  {
    name: 'a tensor left out',
    code: 'model/missing-tensor',
    spoil: (model) => {
      model.tensors.delete('model.text_model.layers.1.mlp.up_proj.weight')
    },
  },
  {
    name: 'a feed-forward layer of another width',
    code: 'model/wrong-shape',
    spoil: (model) => {
      model.section('text_config')['intermediate_size'] = 1024
    },
  },
  {
    name: 'a projector of another width',
    code: 'model/projector-mismatch',
    spoil: (model) => {
      const { data } = model.tensors.get(PROJECTOR)!
      model.tensors.set(PROJECTOR, { shape: [192, 768], data: data.slice(0, 192 * 768) })
    },
  },
  {
    name: 'a vocabulary size that the embedding does not have',
    code: 'model/vocabulary-mismatch',
    spoil: (model) => {
      model.section('text_config')['vocab_size'] = 2304
    },
  },
  {
    name: 'the tokenizer of a larger model',
    code: 'text/tokenizer-mismatch',
    also: ['model/vocabulary-mismatch'],
    spoil: (model) => {
      const { data } = model.tensors.get(EMBEDDING)!
      model.tensors.set(EMBEDDING, { shape: [1024, 256], data: data.slice(0, 1024 * 256) })
    },
  },
  {
    name: 'the tokenizer of a smaller model',
    code: 'text/tokenizer-mismatch',
    spoil: (model) => {
      const { data } = model.tensors.get(EMBEDDING)!
      const larger = new Float32Array(3072 * 256)
      larger.set(data)
      larger.set(data.subarray(0, 1024 * 256), data.length)
      model.tensors.set(EMBEDDING, { shape: [3072, 256], data: larger })
      model.section('text_config')['vocab_size'] = 3072
      model.config['vocab_size'] = 3072
    },
  },
  {
    name: 'no tokenizer',
    code: 'file/no-tokenizer',
    spoil: (model) => {
      model.raw['tokenizer.json'] = undefined
    },
  },
  {
    name: 'a tokenizer that is no tokenizer',
    code: 'text/tokenizer-unreadable',
    spoil: (model) => {
      model.json['tokenizer.json'] = { model: { type: 'BPE' } }
    },
  },
  {
    name: 'a vocabulary without the image token',
    code: 'text/no-image-token',
    spoil: (model) => {
      model.raw['tokenizer.json'] = JSON.stringify(model.json['tokenizer.json']).replaceAll(
        '"<image>"',
        '"<picture>"',
      )
    },
  },
  {
    name: 'an image token of another number',
    code: 'text/tokenizer-mismatch',
    spoil: (model) => {
      model.config['image_token_id'] = 7
    },
  },
  {
    name: 'a chat template of another family',
    code: 'text/missing-special-token',
    spoil: (model) => {
      model.json['chat_template.json'] = {
        chat_template:
          "{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n{{ message['content'] }}<|eot_id|>{% endfor %}",
      }
    },
  },
  {
    name: 'a broken chat template',
    code: 'text/bad-chat-template',
    spoil: (model) => {
      model.json['chat_template.json'] = { chat_template: '{% for message in messages %}{{ message' }
    },
  },
  {
    name: 'no chat template',
    code: 'text/no-chat-template',
    spoil: withoutTemplate,
  },
  {
    name: 'a base model that is called instruct',
    code: 'name/claims-instruct',
    also: ['text/no-chat-template'],
    folder: 'Tiny-3M-Instruct-v2',
    spoil: (model) => {
      withoutTemplate(model)
      model.section('text_config')['_name_or_path'] = 'nothing'
    },
  },
  {
    name: 'a base model with a chat template added',
    code: 'name/claims-instruct',
    also: ['weights/untrained-tokens'],
    folder: 'Other-Chat',
    spoil: (model) => {
      const { shape } = model.tensors.get(EMBEDDING)!
      const data = model.tensors.get(EMBEDDING)!.data.slice()
      for (const id of turnIds(model)) data.set(data.slice(300 * 256, 301 * 256), id * 256)
      model.tensors.set(EMBEDDING, { shape, data })
    },
  },
  {
    name: 'a text model that is called a vision model',
    code: 'name/claims-vision',
    folder: 'Super-Vision-3M',
    spoil: textOnly,
  },
  {
    name: 'a small model that is called a large one',
    code: 'name/claims-size',
    folder: 'Great-7B',
    spoil: () => {},
  },
  {
    name: 'picture settings of another model',
    code: 'model/picture-settings',
    spoil: (model) => {
      model.json['preprocessor_config.json']!['max_image_size'] = { longest_edge: 512 }
    },
  },
  {
    name: 'an output head that was never trained',
    code: 'weights/untrained-head',
    spoil: (model) => {
      model.config['tie_word_embeddings'] = false
      model.section('text_config')['tie_word_embeddings'] = false
      model.tensors.set('lm_head.weight', {
        shape: [2048, 256],
        data: normal(0.02)(new Float32Array(2048 * 256)),
      })
    },
  },
  {
    name: 'a header that is no JSON',
    code: 'format/damaged-header',
    also: ['format/unused-bytes'],
    spoil: (model) => {
      model.raw['model.safetensors'] = editHeader(model.weights(), () => '{"a":{"dtype"')
    },
  },
  {
    name: 'an index that leads out of its folder',
    code: 'format/unsafe-file-name',
    spoil: (model) => {
      model.raw['model.safetensors'] = undefined
      model.raw['model.safetensors.index.json'] = JSON.stringify({
        weight_map: { [EMBEDDING]: '../other/model.safetensors' },
      })
    },
  },
  {
    name: 'tensors of no part',
    code: 'model/unknown-tensors',
    spoil: (model) => {
      model.tensors.set('adapter.lora_A', { shape: [4, 8], data: normal(1)(new Float32Array(32)) })
    },
  },
]

function withoutTemplate(model: SpoilableModel): void {
  model.raw['chat_template.json'] = undefined
  delete model.json['tokenizer_config.json']!['chat_template']
}

function turnIds(model: SpoilableModel): number[] {
  const { added_tokens: added } = model.json['tokenizer.json'] as unknown as {
    added_tokens: { id: number; content: string }[]
  }
  return ['<|im_start|>', '<end_of_utterance>'].map(
    (token) => added.find(({ content }) => content === token)!.id,
  )
}

function textOnly(model: SpoilableModel): void {
  for (const name of [...model.tensors.keys()]) if (/vision|connector/.test(name)) model.tensors.delete(name)
  model.json['config.json'] = {
    ...model.section('text_config'),
    model_type: 'llama',
    vocab_size: 2048,
    tie_word_embeddings: true,
  }
}

function indexOf(model: SpoilableModel, isFirst: (name: string) => boolean): string {
  const names = [...model.tensors.keys()]
  const part = (name: string): string => `model-0000${isFirst(name) ? 1 : 2}-of-00002.safetensors`
  return JSON.stringify({ weight_map: Object.fromEntries(names.map((name) => [name, part(name)])) })
}

/** The weights with one tensor in F32. */
function withFloat32(model: SpoilableModel, name: string): Uint8Array {
  const { shape, data } = model.tensors.get(name)!
  const rest = model.weights((other) => other !== name)
  const bytes = new Uint8Array(data.slice().buffer)
  const edited = editHeader(rest, (header) => {
    const end = Math.max(...Object.values(header).map((record) => (record['data_offsets'] as number[])[1]!))
    header[name] = { dtype: 'F32', shape, data_offsets: [end, end + bytes.byteLength] }
    return undefined
  })
  return concat(edited, bytes)
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.byteLength + b.byteLength)
  out.set(a)
  out.set(b, a.byteLength)
  return out
}
