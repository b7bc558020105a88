/**
 * Limits against hostile or damaged model files. Counts in a header are believed only up to here, so that a few
 * flipped bits end in a message and not in gigabytes of memory or minutes of work. The largest values of real
 * files stand beside each limit.
 */

/** The safetensors reference refuses larger JSON headers; sharded 400B checkpoints stay under 1 MB. */
export const MAX_SAFETENSORS_HEADER_BYTES = 100_000_000

/** GGUF headers hold the whole tokenizer; with a 262,144-token vocabulary they reach about 15 MB. */
export const MAX_GGUF_HEADER_BYTES = 2 ** 27

/** Real files have some dozens of keys; model merges with long histories reach several hundred. */
export const MAX_GGUF_KEYS = 65_536

/** A 400B mixture of experts has about 50,000 tensors in safetensors, at most some thousands in GGUF. */
export const MAX_TENSORS = 2 ** 18

/** Keys are at most 65,535 bytes by the GGUF specification; real ones stay under 100. */
export const MAX_GGUF_KEY_BYTES = 65_535

/** ggml stores at most 63 bytes; a little room is left for writers that are not ggml. */
export const MAX_GGUF_TENSOR_NAME_BYTES = 1024

/** Chat templates are the longest strings, about 100 KB; licences and imatrix texts follow. */
export const MAX_GGUF_STRING_BYTES = 2 ** 24

/** Over all arrays of one file. Vocabulary, scores, types and merges of 262,144 tokens: about 1.5 million. */
export const MAX_GGUF_ARRAY_ELEMENTS = 2 ** 24

/** ggml itself refuses arrays of arrays; no known file nests deeper than two. */
export const MAX_GGUF_ARRAY_DEPTH = 4

/** ggml has four axes. */
export const MAX_GGUF_DIMS = 4

/** Convolution kernels over video have five axes; PyTorch models with more than eight are unknown. */
export const MAX_SAFETENSORS_DIMS = 8

/** 32 is the default and 4096 (a page) the largest in use. Larger values would only hide damage. */
export const MAX_GGUF_ALIGNMENT = 65_536

/** Split files are numbered with five digits; real models have at most a few hundred parts. */
export const MAX_SHARDS = 10_000

/** Sizes in the header of a whisper.cpp file; the largest real one is the vocabulary of large-v3 with 51,866 tokens. */
export const MAX_GGML_SIZE = 2 ** 20

/** The longest tokens of Whisper's vocabularies are runs of 128 equal characters. */
export const MAX_GGML_TOKEN_BYTES = 4096
