// Writes a model of a published shape with random weights and a made-up vocabulary of the real size to a folder, as
// Hugging Face lays them out, in f16: for measuring a whole process (memory, snapshots) where the real weights are not
// at hand. `onsight convert FOLDER model.gguf` makes the four-bit file of it.
//
//   npm run build && node bench/synthetic-model.mjs smolvlm-500m FOLDER
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSyntheticCheckpoint } from '../dist/engine/synthetic-checkpoint.js'

const PIECE_BYTES = 2 ** 22
const [shape = 'smolvlm-500m', folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node bench/synthetic-model.mjs SHAPE FOLDER')
const tiny = new URL('../models/tiny/', import.meta.url)
const readJson = (/** @type {string} */ name) => JSON.parse(readFileSync(new URL(name, tiny), 'utf8'))

const checkpoint = createSyntheticCheckpoint(shape, { layers: 'F16', others: 'F16' })
const config = /** @type {any} */ (checkpoint).config
const { image_size: edge, patch_size: patch } = config.vision_config
const frameTokens = (edge / patch / config.scale_factor) ** 2

mkdirSync(folder, { recursive: true })
const write = (/** @type {string} */ name, /** @type {unknown} */ value) =>
  writeFileSync(join(folder, name), JSON.stringify(value))
const tokenizer = growVocabulary(readJson('tokenizer.json'), config.text_config.vocab_size)
write('config.json', { ...config, image_token_id: 4 })
write('tokenizer.json', tokenizer)
for (const name of ['tokenizer_config.json', 'chat_template.json', 'generation_config.json'])
  write(name, readJson(name))
write('preprocessor_config.json', {
  ...readJson('preprocessor_config.json'),
  do_image_splitting: true,
  max_image_size: { longest_edge: edge },
  size: { longest_edge: 4 * edge },
})
write('processor_config.json', { image_seq_len: frameTokens })
await writeWeights([.../** @type {any} */ (checkpoint).tensors.values()])

/** Merges of tokens that there are, until there are `size`. */
function growVocabulary(/** @type {any} */ tokenizer, /** @type {number} */ size) {
  const { vocab, merges } = tokenizer.model
  const tokens = Object.keys(vocab).filter((token) => !token.startsWith('<'))
  const markers = Array.from({ length: 16 }, (_, at) => `<row_${1 + (at >> 2)}_col_${1 + (at & 3)}>`)
  let next =
    1 + Math.max(...Object.values(vocab), ...tokenizer.added_tokens.map((/** @type {any} */ { id }) => id))
  for (const content of markers) {
    tokenizer.added_tokens.push({ ...tokenizer.added_tokens[0], id: next, content })
    next++
  }
  for (let step = 1; next < size; step++) {
    const left = tokens[(step * 7919) % tokens.length]
    const right = tokens[(step * 104729) % tokens.length]
    if (left.length + right.length > 14 || vocab[left + right] !== undefined) continue
    vocab[left + right] = next++
    tokens.push(left + right)
    merges.push(Array.isArray(merges[0]) ? [left, right] : `${left} ${right}`)
  }
  return tokenizer
}

/** Header, then tensor after tensor. */
async function writeWeights(/** @type {any[]} */ tensors) {
  /** @type {Record<string, unknown>} */
  const records = {}
  let at = 0
  for (const { name, type, shape, byteLength } of tensors) {
    records[name] = { dtype: type, shape, data_offsets: [at, at + byteLength] }
    at += byteLength
  }
  const json = JSON.stringify(records)
  const header = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8, ' ')
  header.writeBigUInt64LE(BigInt(header.length - 8))
  header.write(json, 8)
  const file = createWriteStream(join(folder, 'model.safetensors'))
  file.write(header)
  for (const { source, byteLength } of tensors) {
    for (let from = 0; from < byteLength; from += PIECE_BYTES) {
      const bytes = new Uint8Array(Math.min(PIECE_BYTES, byteLength - from))
      await source.readInto(bytes, from)
      if (!file.write(bytes)) await once(file, 'drain')
    }
  }
  file.end()
  await once(file, 'finish')
}
