// What computing guessed tokens ahead gains, by what an answer is like. The answers are given, so that weights need not
// be trained: what counts is how often the text behind the last tokens comes again, and what a pass costs.
//
//   npm run build && node bench/speculation.mjs [rounds]
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AnswerSteps } from '../dist/generation/answer-steps.js'
import { TokenSession } from '../dist/generation/token-session.js'
import { loadFiles, loadShape } from './lib/load.mjs'

/** @typedef {import('../dist/engine/loaded-model.js').LoadedModel} LoadedModel */

const root = fileURLToPath(new URL('..', import.meta.url))
const rounds = Number(process.argv[2] ?? 5)
const ANSWER_TOKENS = 160

const tiny = await loadFiles(`${root}models/tiny`, 'q8', 'f16')
const { tokenizer } = tiny.text
const prose = readFileSync(`${root}docs/architecture.md`, 'utf8')
const other = readFileSync(`${root}docs/browser.md`, 'utf8')
const records = Array.from({ length: 40 }, (_, index) => ({
  item: ['bread', 'milk', 'apples', 'rice', 'soap'][index % 5],
  quantity: (index * 7) % 9,
  price: ((index * 131) % 977) / 100,
}))
/** @type {readonly (readonly [name: string, prompt: string, answer: string])[]} */
const TEXTS = [
  ['copying what was read', `Read this aloud.\n${prose}`, prose],
  [
    'JSON, a list of records',
    'List what is on the receipt as JSON with item, quantity and price.',
    JSON.stringify(records),
  ],
  [
    'a table',
    'Make a table.',
    records.map((record) => `| ${Object.values(record).join(' | ')} |\n`).join(''),
  ],
  ['prose about other prose', prose, other.slice(600)],
  ['random tokens', '', ''],
]

console.log('| model | answer | tokens a pass | guesses right | speed with / without |')
console.log('| --- | --- | --- | --- | --- |')
await measure('tiny, q8', tiny)
for (const kv of /** @type {const} */ (['f16', 'q8'])) {
  const shape = /** @type {LoadedModel} */ (
    /** @type {unknown} */ (await loadShape('smolvlm-500m', 'q4', kv))
  )
  await measure(`500M shape, q4, cache ${kv}`, shape)
}

/** @param {string} name @param {LoadedModel} loaded */
async function measure(name, loaded) {
  for (const [text, promptText, answerText] of TEXTS) {
    const prompt = promptText ? tokenizer.encode(promptText).slice(0, 400) : randomIds(400, 1)
    const answer = (answerText ? tokenizer.encode(answerText) : randomIds(ANSWER_TOKENS, 2)).slice(
      0,
      ANSWER_TOKENS,
    )
    /** @type {Record<'auto' | 'off', number[]>} */
    const times = { auto: [], off: [] }
    let passes = 0
    let drafted = 0
    for (let round = 0; round < rounds; round++) {
      for (const speculation of /** @type {const} */ (['auto', 'off'])) {
        const session = new TokenSession(loaded.model, loaded.queue.line())
        const prefill = session.prefill({ ids: prompt, images: [] })
        while (!(await prefill.next()).done);
        const { contextLength } = loaded.model.config.decoder
        const steps = new AnswerSteps(session, prompt, { contextLength, speculation })
        const start = performance.now()
        for (const id of answer) await steps.next(id, undefined)
        times[speculation].push(performance.now() - start)
        if (speculation === 'auto') {
          passes += answer.length - steps.counts.acceptedTokens
          drafted += steps.counts.draftedTokens
        }
        session.dispose()
      }
    }
    const tokens = rounds * answer.length
    const right =
      drafted === 0
        ? '–'
        : `${((100 * (tokens - passes)) / drafted).toFixed(0)} % of ${Math.round(drafted / rounds)}`
    const ratio = median(times.off) / median(times.auto)
    console.log(`| ${name} | ${text} | ${(tokens / passes).toFixed(2)} | ${right} | ${ratio.toFixed(2)} |`)
  }
  await loaded.backend.dispose()
}

/** @param {number} length @param {number} seed */
function randomIds(length, seed) {
  return Array.from({ length }, (_, index) => ((((index + 1) * 7919 * seed) ^ (index * 104729)) % 2000) + 20)
}

/** @param {number[]} values */
function median(values) {
  return /** @type {number} */ (values.sort((a, b) => a - b)[values.length >> 1])
}
