/**
 * Short names for models that are known to fit. Data only; sizes are those of the weights as published listings give
 * them, and are left out where none was at hand.
 */

export interface CatalogueEntry {
  readonly name: string
  /** On the hub. */
  readonly repository: string
  readonly format: 'safetensors' | 'gguf'
  readonly licence: string
  readonly description: string
  /** Default: pictures and text. */
  readonly task?: 'recognition'
  /** Weights, rounded where the listing was. */
  readonly approximateBytes?: number
  /** Keys and values of a token in 16 bits: layers x heads of keys x 64 x 2 x 2 bytes. */
  readonly cacheBytesPerToken?: number
}

/** 30 layers, 3 heads of keys. */
const CACHE_256M = 23_040
/** 32 layers, 5 heads of keys. */
const CACHE_500M = 40_960
/** 24 layers, 32 heads of keys. */
const CACHE_2B = 196_608

export const CATALOGUE: readonly CatalogueEntry[] = [
  {
    name: 'smolvlm-256m',
    repository: 'HuggingFaceTB/SmolVLM-256M-Instruct',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'smallest; pictures and short questions',
    approximateBytes: 513_028_808,
    cacheBytesPerToken: CACHE_256M,
  },
  {
    name: 'smolvlm-500m',
    repository: 'HuggingFaceTB/SmolVLM-500M-Instruct',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'pictures; a good start',
    cacheBytesPerToken: CACHE_500M,
  },
  {
    name: 'smolvlm-2.2b',
    repository: 'HuggingFaceTB/SmolVLM-Instruct',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'pictures; best answers of the three',
    approximateBytes: 4_500_000_000,
    cacheBytesPerToken: CACHE_2B,
  },
  {
    name: 'smolvlm2-256m',
    repository: 'HuggingFaceTB/SmolVLM2-256M-Video-Instruct',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'second generation, trained on video too',
    cacheBytesPerToken: CACHE_256M,
  },
  {
    name: 'smolvlm2-500m',
    repository: 'HuggingFaceTB/SmolVLM2-500M-Video-Instruct',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'second generation, trained on video too; 32-bit weights',
    approximateBytes: 2_030_000_000,
    cacheBytesPerToken: CACHE_500M,
  },
  {
    name: 'smolvlm2-2.2b',
    repository: 'HuggingFaceTB/SmolVLM2-2.2B-Instruct',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'second generation, trained on video too',
    cacheBytesPerToken: CACHE_2B,
  },
  {
    name: 'smolvlm-256m-gguf',
    repository: 'ggml-org/SmolVLM-256M-Instruct-GGUF',
    format: 'gguf',
    licence: 'apache-2.0',
    description: 'quantised pair of text model and projector',
    cacheBytesPerToken: CACHE_256M,
  },
  {
    name: 'smolvlm-500m-gguf',
    repository: 'ggml-org/SmolVLM-500M-Instruct-GGUF',
    format: 'gguf',
    licence: 'apache-2.0',
    description: 'quantised pair of text model and projector',
    cacheBytesPerToken: CACHE_500M,
  },
  {
    name: 'smolvlm-2.2b-gguf',
    repository: 'ggml-org/SmolVLM-Instruct-GGUF',
    format: 'gguf',
    licence: 'apache-2.0',
    description: 'quantised pair of text model and projector',
    cacheBytesPerToken: CACHE_2B,
  },
  {
    name: 'smolvlm2-256m-gguf',
    repository: 'ggml-org/SmolVLM2-256M-Video-Instruct-GGUF',
    format: 'gguf',
    licence: 'apache-2.0',
    description: 'quantised pair of text model and projector',
    cacheBytesPerToken: CACHE_256M,
  },
  {
    name: 'smolvlm2-500m-gguf',
    repository: 'ggml-org/SmolVLM2-500M-Video-Instruct-GGUF',
    format: 'gguf',
    licence: 'apache-2.0',
    description: 'quantised pair of text model and projector',
    cacheBytesPerToken: CACHE_500M,
  },
  {
    name: 'smolvlm2-2.2b-gguf',
    repository: 'ggml-org/SmolVLM2-2.2B-Instruct-GGUF',
    format: 'gguf',
    licence: 'apache-2.0',
    description: 'quantised pair of text model and projector',
    approximateBytes: 1_705_125_856,
    cacheBytesPerToken: CACHE_2B,
  },
  {
    name: 'whisper-tiny',
    repository: 'openai/whisper-tiny',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'hears many languages; smallest',
    task: 'recognition',
  },
  {
    name: 'whisper-base',
    repository: 'openai/whisper-base',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'hears many languages; a good start',
    task: 'recognition',
  },
  {
    name: 'whisper-small',
    repository: 'openai/whisper-small',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'hears many languages; better, three times as slow',
    task: 'recognition',
  },
  {
    name: 'whisper-tiny.en',
    repository: 'openai/whisper-tiny.en',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'hears English only; smallest',
    task: 'recognition',
  },
  {
    name: 'whisper-base.en',
    repository: 'openai/whisper-base.en',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'hears English only',
    task: 'recognition',
  },
  {
    name: 'whisper-small.en',
    repository: 'openai/whisper-small.en',
    format: 'safetensors',
    licence: 'apache-2.0',
    description: 'hears English only; better, three times as slow',
    task: 'recognition',
  },
]
