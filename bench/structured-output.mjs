// What a schema costs while generating: time for the tree of tokens and the schema, for each mask, and a token with and
// without a schema, in turn on one machine. FOLDER is any model; bench/synthetic-model.mjs makes one of a real size.
//
//   npm run build && node bench/structured-output.mjs FOLDER [--precision q4]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compileSchema, SchemaConstraint } from '../dist/constraint/schema-constraint.js'
import { WordWalks } from '../dist/constraint/token-masks.js'
import { TokenTrie } from '../dist/constraint/token-trie.js'
import { loadModel } from '../dist/entry/index.node.js'
import { createTokenizerFromJson } from '../dist/text/tokenizer/tokenizer.js'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { precision: { type: 'string', default: 'q4' }, tokens: { type: 'string', default: '96' } },
})
const [folder] = positionals
if (folder === undefined) throw new Error('usage: node bench/structured-output.mjs FOLDER [--precision q4]')
const TOKENS = Number(values.tokens)
const ROUNDS = 5

const SCHEMA = {
  type: 'object',
  properties: {
    caption: { type: 'string', maxLength: 200 },
    tags: { type: 'array', items: { type: 'string', maxLength: 24 }, maxItems: 10 },
    count: { type: 'integer', minimum: 0, maximum: 100 },
    price: { type: 'number', minimum: 0, maximum: 1000 },
    kind: { enum: ['photo', 'drawing', 'screenshot'] },
    taken: { type: 'string', format: 'date-time' },
    code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3,6}$' },
    more: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['caption', 'tags', 'count', 'price', 'kind', 'taken', 'code', 'more'],
  additionalProperties: false,
}
const ANSWER = JSON.stringify({
  caption: 'A ginger cat sits on the mat, 橘猫坐在垫子上, and looks at "birds" outside the window.',
  tags: ['cat', 'mat', 'window', '窗户'],
  count: 17,
  price: 12.5,
  kind: 'photo',
  taken: '2024-02-29T12:30:00Z',
  code: 'AB-1234',
  more: { colour: 'ginger', mood: 'curious', 心情: '好奇' },
})

const tokenizer = createTokenizerFromJson(
  JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')),
  JSON.parse(readFileSync(join(folder, 'tokenizer_config.json'), 'utf8')),
  'tokenizer.json',
)
const vocabulary = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.tokenBytes(id))
const [trie, trieMs] = timed(() => new TokenTrie(vocabulary))
const [schema, compileMs] = timed(() => compileSchema(SCHEMA))
console.log(
  `${vocabulary.length} tokens, ${trie.bytes.length} nodes: tree ${round(trieMs)} ms, schema ${round(compileMs)} ms`,
)

const walks = new WordWalks(trie)
const ids = tokenizer.encode(ANSWER)
for (const round of ['first answer', 'second answer', 'third answer']) {
  const constraint = new SchemaConstraint(schema, {
    vocabulary,
    walks,
    stopTokens: new Set(),
    allowsSpace: false,
  })
  const times = ids.map((id) => {
    const logits = new Float32Array(vocabulary.length)
    return timed(() => {
      constraint.restrict(logits)
      constraint.accept(id)
    })[1]
  })
  report(`masks of the ${round}, ${ids.length} tokens`, times)
}

const model = await loadModel(folder, { precision: /** @type {any} */ (values.precision) })
const free = { maxTokens: TOKENS, ignoreEos: true, temperature: 1, seed: 1 }
const bound = { maxTokens: TOKENS, temperature: 1, seed: 1, responseSchema: { type: 'string' } }
await tokenMs(free)
await tokenMs(bound)
/** @type {{ without: number[], within: number[] }} */
const measured = { without: [], within: [] }
for (let round = 0; round < ROUNDS; round++) {
  measured.without.push(await tokenMs(free))
  measured.within.push(await tokenMs(bound))
}
report('a token without a schema', measured.without)
report('a token with one (free text)', measured.within)
await model.dispose()

async function tokenMs(/** @type {import('../dist/engine/types.js').GenerationOptions} */ options) {
  const chat = model.chat()
  try {
    for await (const event of chat.send({ text: 'Describe it.' }, options)) {
      if (event.type === 'answer-finished') return 1000 / event.timings.tokensPerSecond
    }
    throw new Error('The answer has no end.')
  } finally {
    chat.dispose()
  }
}

/**
 * Milliseconds of processor time, which other work on the machine does not change.
 * @template T @param {() => T} work @returns {[T, number]}
 */
function timed(work) {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  return [result, (user + system) / 1000]
}

function report(/** @type {string} */ name, /** @type {number[]} */ times) {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (/** @type {number} */ share) => round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  const mean = sorted.reduce((sum, time) => sum + time, 0) / sorted.length
  console.log(`${name}: mean ${round(mean)} ms, median ${at(0.5)}, 99 % ${at(0.99)}, most ${at(1)}`)
}

function round(/** @type {number} */ value) {
  return Math.round(value * 100) / 100
}
