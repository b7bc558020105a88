// A conversation of many turns in a small context, with a new picture every twenty turns: what a turn costs, how often
// something is dropped, and what memory does.
//
//   npm run build && node bench/long-conversation.mjs [MODEL] [TURNS] [drop-oldest|summarise]
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundledModelPath, loadModel } from '../dist/entry/index.node.js'

const CONTEXT = 1024
const PICTURE_EVERY = 20
const [reference = 'tiny', turns = '1000', whenFull = 'drop-oldest'] = process.argv.slice(2)
const folder = new URL('../test/golden/tiny-cases/pictures/', import.meta.url)
const pictures = readdirSync(folder).map((name) => fileURLToPath(new URL(name, folder)))
const questions = [
  'What objects are there?',
  '图里有什么？',
  'What is in the middle?',
  'Count the stars.',
  '左上角有什么？',
]

const model = await loadModel(reference === 'tiny' ? bundledModelPath() : reference, {
  contextLength: CONTEXT,
})
await model.warmUp()
const chat = model.chat({ system: 'You are brief.', whenFull: /** @type {any} */ (whenFull) })
/** @type {{ firstTokenMs: number, cached: number, prompt: number, trimmed: number, resident: number, allocated: number }[]} */
const rows = []
for (let turn = 0; turn < Number(turns); turn++) {
  const picture = pictures[Math.floor(turn / PICTURE_EVERY) % pictures.length]
  const images = turn % PICTURE_EVERY === 0 && picture ? [picture] : []
  const message = { text: `${questions[turn % questions.length]}`, images }
  let trimmed = 0
  for await (const event of chat.send(message, { maxTokens: 16 })) {
    if (event.type === 'context-trimmed') trimmed++
    if (event.type !== 'answer-finished') continue
    rows.push({
      firstTokenMs: event.timings.firstTokenMs,
      cached: event.usage.cachedTokens,
      prompt: event.usage.promptTokens,
      trimmed,
      resident: process.memoryUsage.rss() / 1e6,
      allocated: model.info.allocatedBytes / 1e6,
    })
  }
}
await model.dispose()

console.log(
  '| turns | first word, median ms | prompt, mean tokens | of these computed | dropped something | engine MB | resident MB |',
)
console.log('| --- | --- | --- | --- | --- | --- | --- |')
const step = Math.ceil(rows.length / 5)
for (let from = 0; from < rows.length; from += step) {
  const some = rows.slice(from, from + step)
  const mean = (/** @type {(row: typeof rows[number]) => number} */ read) =>
    some.reduce((sum, row) => sum + read(row), 0) / some.length
  const times = some.map(({ firstTokenMs }) => firstTokenMs).sort((a, b) => a - b)
  console.log(
    `| ${from + 1}–${from + some.length} | ${times[times.length >> 1]?.toFixed(1)} | ${mean((row) => row.prompt).toFixed(0)} | ` +
      `${mean((row) => row.prompt - row.cached).toFixed(0)} | ${some.filter((row) => row.trimmed > 0).length} | ` +
      `${Math.max(...some.map((row) => row.allocated)).toFixed(2)} | ${Math.max(...some.map((row) => row.resident)).toFixed(0)} |`,
  )
}
