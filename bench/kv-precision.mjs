// What keys and values in 16 and in 8 bits change about the next token, against float32: along the right answers about
// the pictures of test/golden/tiny-cases, and along random tokens at several lengths of context.
//
//   npm run build && node bench/kv-precision.mjs
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildChatPrompt } from '../dist/engine/build-prompt.js'
import { measureDivergence } from '../dist/engine/divergence.js'
import { forceAnswer } from '../dist/engine/forced-answer.js'
import { encodeAnswer, finishPicture, setDialogues } from '../dist/engine/full-precision.js'
import { preparePicture } from '../dist/engine/picture.js'
import { createRandom } from '../dist/generation/random.js'
import { loadFiles, loadShape } from './lib/load.mjs'

/** @typedef {import('../dist/engine/loaded-model.js').LoadedModel} LoadedModel */
/** @typedef {{ prompt: import('../dist/generation/token-session.js').Prompt, answer: readonly number[] }} Passage */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}test/golden/tiny-cases/`
/** Positions at the end of a random context that are compared. */
const COMPARED = 64
const KINDS = /** @type {const} */ (['f32', 'f16', 'q8'])

console.log(
  '| model | weights | along | KL f16 | KL q8 | same likeliest f16 | q8 | largest difference f16 | q8 |',
)
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
for (const precision of /** @type {const} */ (['f32', 'q8', 'q4'])) {
  const load = opener(`${root}models/tiny`, precision)
  await compare('tiny', precision, 'pictures', load, picturePassages)
  for (const length of [512, 2000])
    await compare('tiny', precision, `texts of ${length}`, load, textPassages(length))
}
for (const name of ['llama3', 'qwen3', 'odd/qwen2']) {
  for (const precision of /** @type {const} */ (['f32', 'q8'])) {
    const load = opener(`${root}test/golden/${name}`, precision)
    await compare(`golden ${name}`, precision, 'random, 500', load, randomPassages(500, 3))
  }
}
for (const precision of /** @type {const} */ (['f32', 'q4'])) {
  for (const length of [64, 512, 2048])
    await compare(
      '256M shape',
      precision,
      `random, ${length}`,
      shapeOpener(precision),
      randomPassages(length, 1),
    )
}

/** @param {string} path @param {'f32' | 'q8' | 'q4'} precision */
function opener(path, precision) {
  return (/** @type {typeof KINDS[number]} */ kv) => loadFiles(path, precision, kv)
}

/** @param {'f32' | 'q4'} precision */
function shapeOpener(precision) {
  return async (/** @type {typeof KINDS[number]} */ kv) =>
    /** @type {LoadedModel} */ (/** @type {unknown} */ (await loadShape('smolvlm-256m', precision, kv)))
}

/**
 * @param {string} model @param {string} precision @param {string} kind
 * @param {(kv: typeof KINDS[number]) => Promise<LoadedModel>} load
 * @param {(loaded: LoadedModel) => Promise<Passage[]>} passagesOf
 */
async function compare(model, precision, kind, load, passagesOf) {
  /** @type {Float32Array[][]} */
  const found = []
  let vocabSize = 0
  for (const kv of KINDS) {
    const loaded = await load(kv)
    vocabSize = loaded.model.config.decoder.vocabSize
    const logits = []
    for (const { prompt, answer } of await passagesOf(loaded))
      logits.push(await forceAnswer(loaded, prompt, answer))
    found.push(logits)
    await loaded.backend.dispose()
  }
  const [exact = [], ...others] = found
  const positions = exact.reduce((sum, { length }) => sum + length / vocabSize, 0)
  const changes = others.map((other) => change(exact, other, vocabSize))
  const columns = [
    changes.map(({ kl }) => (kl / positions).toExponential(1)),
    changes.map(({ same }) => `${((100 * same) / positions).toFixed(2)} %`),
    changes.map(({ largest }) => largest.toPrecision(2)),
  ]
  console.log(`| ${[model, precision, `${kind} (${positions})`, ...columns.flat()].join(' | ')} |`)
}

/**
 * Sums over all positions, and the largest difference of a logit.
 * @param {readonly Float32Array[]} exact @param {readonly Float32Array[]} other @param {number} vocabSize
 */
function change(exact, other, vocabSize) {
  let kl = 0
  let same = 0
  let largest = 0
  for (const [passage, reference] of exact.entries()) {
    const logits = /** @type {Float32Array} */ (other[passage])
    const sum = measureDivergence(reference, logits, vocabSize)
    kl += sum.klSum
    same += sum.sameTop
    for (const [i, value] of reference.entries()) {
      largest = Math.max(largest, Math.abs(value - /** @type {number} */ (logits[i])))
    }
  }
  return { kl, same, largest }
}

/** The right answers about the pictures. @param {LoadedModel} loaded @returns {Promise<Passage[]>} */
async function picturePassages(loaded) {
  const passages = []
  for (const { id, picture, turns } of readCases()) {
    const encoded = await finishPicture(
      loaded,
      await preparePicture(loaded, `${folder}${picture}`, 'auto', undefined),
    )
    const item = { id, pictures: [picture], turns: turns.map(({ ask, says }) => ({ ask, answers: [says] })) }
    for (const { messages, answer = '' } of setDialogues(item)) {
      passages.push({
        prompt: buildChatPrompt(loaded, messages, [encoded]),
        answer: encodeAnswer(loaded, messages, answer),
      })
    }
  }
  return passages
}

/** What was asked and said, end to end, until it is so long. @param {number} length */
function textPassages(length) {
  return async (/** @type {LoadedModel} */ loaded) => {
    const text = readCases()
      .flatMap(({ turns }) => turns.map(({ ask, says }) => `${ask} ${says}\n`))
      .join('')
    const ids = loaded.text.tokenizer.encode(text)
    return [0, 1, 2].map((part) => passage(ids.slice(part * length, (part + 1) * length)))
  }
}

/** @param {number} length @param {number} count */
function randomPassages(length, count) {
  return async (/** @type {LoadedModel} */ { model }) => {
    const random = createRandom(length)
    const { vocabSize } = model.config.decoder
    return Array.from({ length: count }, () =>
      passage(Array.from({ length }, () => Math.floor(random() * vocabSize))),
    )
  }
}

/** @param {readonly number[]} ids */
function passage(ids) {
  const compared = Math.min(COMPARED, ids.length >> 1)
  return { prompt: { ids: ids.slice(0, -compared), images: [] }, answer: ids.slice(-compared) }
}

/** @returns {{ id: string, picture: string, turns: { ask: string, says: string }[] }[]} */
function readCases() {
  return readFileSync(`${folder}cases.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
