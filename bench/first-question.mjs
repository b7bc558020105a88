// How long the first, second and tenth question of a process wait for their first word, with and without
// `model.warmUp`: each a conversation of its own about a picture that was not seen before, and one without pictures.
// Every row is the median of several processes. The system prompt is the same in all.
//
//   npm run build && node bench/first-question.mjs [MODEL] [ROUNDS] [text|picture|both]
import { fork } from 'node:child_process'

const QUESTIONS = 10
const SYSTEM = 'You are brief.'
const [reference = 'tiny', rounds = '5', asked = 'both', kind] = process.argv.slice(2)
const parts = /** @type {const} */ (['picture', 'text']).filter((part) => asked === part || asked === 'both')

if (kind === undefined) await compare()
else process.send?.(await measure(kind === 'warm'))

async function compare() {
  /** @type {Record<string, { picture: number[], text: number[], warmUpMs: number }[]>} */
  const runs = { cold: [], warm: [] }
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, results] of Object.entries(runs)) results.push(await runApart(name))
  }
  console.log('| first word, ms | first | second | tenth | first to tenth |\n| --- | --- | --- | --- | --- |')
  for (const [name, results] of Object.entries(runs)) {
    for (const part of parts) {
      const at = (/** @type {number} */ index) => median(results.map((result) => result[part][index] ?? 0))
      const [first, second, tenth] = [at(0), at(1), at(QUESTIONS - 1)]
      const ratio = median(
        results.map((result) => (result[part][0] ?? 0) / (result[part][QUESTIONS - 1] ?? 1)),
      )
      console.log(
        `| ${name}, ${part} | ${[first, second, tenth].map(show).join(' | ')} | ${ratio.toFixed(2)} |`,
      )
    }
  }
  console.log(`warm-up: ${show(median((runs['warm'] ?? []).map(({ warmUpMs }) => warmUpMs)))} ms`)
}

function runApart(/** @type {string} */ name) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL(import.meta.url), [reference, rounds, asked, name])
    child.once('message', resolve)
    child.once('exit', (code) => code === 0 || reject(new Error(`${name} ended with ${code}`)))
  })
}

async function measure(/** @type {boolean} */ isWarm) {
  const { bundledModelPath, loadModel } = await import('../dist/entry/index.node.js')
  const model = await loadModel(reference === 'tiny' ? bundledModelPath() : reference)
  const start = performance.now()
  if (isWarm) await model.warmUp({ system: SYSTEM })
  const warmUpMs = performance.now() - start
  const ask = async (/** @type {number} */ number, /** @type {boolean} */ hasPicture) => {
    const chat = model.chat({ system: SYSTEM })
    const message = {
      text: `What is it, number ${number}?`,
      images: hasPicture ? [inventPicture(number)] : [],
    }
    let firstTokenMs = 0
    const options = { maxTokens: 8, ignoreEos: true, detail: /** @type {const} */ ('low') }
    for await (const event of chat.send(message, options))
      if (event.type === 'answer-finished') firstTokenMs = event.timings.firstTokenMs
    chat.dispose()
    return firstTokenMs
  }
  /** @type {{ picture: number[], text: number[] }} */
  const times = { picture: [], text: [] }
  // Alternating, so that the first of each kind is as early as it can be.
  for (let number = 0; number < QUESTIONS; number++) {
    if (parts.includes('text')) times.text.push(await ask(number, false))
    if (parts.includes('picture')) times.picture.push(await ask(number, true))
  }
  await model.dispose()
  return { ...times, warmUpMs }
}

function inventPicture(/** @type {number} */ number) {
  const [width, height] = [300, 200]
  const data = Uint8Array.from({ length: 3 * width * height }, (_, index) => (index * 7 + number * 13) % 256)
  return { data, width, height }
}

function median(/** @type {number[]} */ values) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

function show(/** @type {number} */ value) {
  return value.toFixed(value < 100 ? 1 : 0)
}
