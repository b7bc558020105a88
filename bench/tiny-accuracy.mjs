// How much of the bundled model's answers each precision keeps: shares of answers identical to the reference's (greedy,
// Transformers in float32), and of answers that are true, over the conversations in test/golden/tiny-cases.
//
//   npm run build && node bench/tiny-accuracy.mjs [f32 q8 q4]
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundledModelPath, loadModel } from '../dist/entry/index.node.js'

const folder = fileURLToPath(new URL('../test/golden/tiny-cases/', import.meta.url))
const cases = readFileSync(`${folder}cases.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const turnCount = cases.reduce((sum, { turns }) => sum + turns.length, 0)
const chosen = process.argv.slice(2)

console.log(`${cases.length} conversations, ${turnCount} answers\n`)
console.log('| precision | identical to the reference | exactly right |')
console.log('| --- | --- | --- |')
const told = cases.flatMap(({ turns }) => turns)
console.log(`| reference | | ${percent(told.filter(({ says, truth }) => says === truth).length)} |`)
for (const precision of chosen.length > 0 ? chosen : ['f32', 'q8', 'q4']) {
  const { identical, right } = await measure(precision)
  console.log(`| ${precision} | ${percent(identical)} | ${percent(right)} |`)
}

/** @param {string} precision */
async function measure(precision) {
  const model = await loadModel(bundledModelPath(), { precision })
  let identical = 0
  let right = 0
  for (const { picture, turns } of cases) {
    const chat = model.chat()
    for (const [index, { ask, says, truth }] of turns.entries()) {
      const images = index === 0 ? [`${folder}${picture}`] : []
      let text = ''
      for await (const event of chat.send({ text: ask, images })) {
        if (event.type === 'answer-finished') text = event.text
      }
      if (text === says) identical++
      if (text === truth) right++
    }
    chat.dispose()
  }
  await model.dispose()
  return { identical, right }
}

/** @param {number} count */
function percent(count) {
  return `${((100 * count) / turnCount).toFixed(1)} % (${count})`
}
