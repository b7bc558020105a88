// How long the first word of a question takes, by what is known from before: nothing, the picture, another conversation
// that began alike, the conversation itself. Answers have the same tokens in every case. The best of several
// rounds each, in turn, since machines are shared.
//
//   npm run build && node bench/follow-up.mjs [MODEL] [ROUNDS]
import { fileURLToPath } from 'node:url'
import { bundledModelPath, loadModel } from '../dist/entry/index.node.js'

const [reference = 'tiny', rounds = '5'] = process.argv.slice(2)
const path = reference === 'tiny' ? bundledModelPath() : reference
const picture = fileURLToPath(new URL('../models/demo.png', import.meta.url))
const first = { text: 'What objects are there?', images: [picture] }
const second = { text: 'What is in the middle?' }
const options = /** @type {const} */ ({ maxTokens: 16, detail: 'low', ignoreEos: true })

// One that forgets everything at once, and one as it is.
const forgetful = await loadModel(path, { imageCacheBytes: 0 })
const model = await loadModel(path)
await forgetful.warmUp()
await model.warmUp()

/** @type {Record<string, number[]>} */
const times = {}
/** @type {Record<string, number>} */
const computed = {}
for (let round = 0; round < Number(rounds); round++) {
  const chat = model.chat()
  if (round === 0) await ask(chat, first)
  const said = await measure('first question, picture known', chat, first)
  await measure('second question, same conversation', chat, second)
  const alike = model.chat()
  await measure('first question again, another conversation that began alike', alike, first)
  alike.dispose()
  const earlier = [
    { role: /** @type {const} */ ('user'), ...first, detail: options.detail },
    { role: /** @type {const} */ ('assistant'), text: said },
  ]
  const resumed = forgetful.chat({ messages: earlier })
  await measure('second question, nothing known', resumed, second)
  resumed.dispose()
  const fresh = forgetful.chat()
  await measure('first question, nothing known', fresh, first)
  fresh.dispose()
  chat.dispose()
}
await Promise.all([forgetful.dispose(), model.dispose()])

console.log('| | first word, ms | tokens computed |\n| --- | --- | --- |')
for (const [name, values] of Object.entries(times))
  console.log(`| ${name} | ${Math.min(...values).toFixed(1)} | ${computed[name]} |`)
const best = (/** @type {string} */ name) => Math.min(...(times[name] ?? []))
const ratio = best('second question, same conversation') / best('second question, nothing known')
console.log(`second question against nothing known: ${ratio.toFixed(3)}`)

async function ask(
  /** @type {import('../dist/entry/index.node.js').Chat} */ chat,
  /** @type {any} */ message,
) {
  for await (const event of chat.send(message, options)) if (event.type === 'answer-finished') return event
  throw new Error('The answer has no end.')
}

async function measure(/** @type {string} */ name, /** @type {any} */ chat, /** @type {any} */ message) {
  const { timings, usage, text } = await ask(chat, message)
  times[name] = [...(times[name] ?? []), timings.firstTokenMs]
  computed[name] = usage.promptTokens - usage.cachedTokens
  return text
}
