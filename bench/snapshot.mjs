// What a snapshot of a conversation about one picture saves: from opening the file to the first word of the next answer,
// against computing the same conversation anew from its picture and its text. Each is the best of several runs.
//
//   npm run build && node bench/snapshot.mjs [MODEL] [--detail low|high] [--picture FILE] [--repeat 3] [--kv f16|q8]
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundledModelPath, loadModel } from '../dist/entry/index.node.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    detail: { type: 'string', default: 'low' },
    picture: { type: 'string', default: fileURLToPath(new URL('../models/demo.png', import.meta.url)) },
    repeat: { type: 'string', default: '3' },
    kv: { type: 'string', default: 'f16' },
  },
})
const [reference = bundledModelPath()] = positionals
const folder = mkdtempSync(join(tmpdir(), 'onsight-snapshot-'))
const path = join(folder, 'chat.snapshot')
const detail = /** @type {any} */ (values.detail)
const message = { text: 'What is it?', images: [values.picture] }
// Without its cache of pictures, as in a process that has just been started.
const options = /** @type {any} */ ({ kv: values.kv, imageCacheBytes: 0 })
const model = await loadModel(reference, options)

/** Until the first word, and how many tokens came before it. */
async function ask(
  /** @type {import('../dist/entry/index.node.js').Chat} */ chat,
  /** @type {string} */ text,
) {
  const start = performance.now()
  let ms = 0
  let usage
  for await (const event of chat.send({ text }, { maxTokens: 16, ignoreEos: true })) {
    if (event.type === 'text-delta' && ms === 0) ms = performance.now() - start
    if (event.type === 'answer-finished') usage = event.usage
  }
  return { ms, usage }
}

/** @param {() => Promise<number>} run */
async function best(run) {
  let least = Number.POSITIVE_INFINITY
  for (let count = 0; count < Number(values.repeat); count++) least = Math.min(least, await run())
  return least
}

try {
  const first = model.chat()
  for await (const _ of first.send(message, { maxTokens: 16, ignoreEos: true, detail })) {
    // The answer is what it is.
  }
  const answer = /** @type {any} */ (first.turns.at(-1)).text
  const saveMs = await best(async () => {
    const start = performance.now()
    await first.save(path)
    return performance.now() - start
  })
  let usage
  let restoreMs = Number.POSITIVE_INFINITY
  const hot = await best(async () => {
    const start = performance.now()
    const chat = await model.restore(path)
    const restored = performance.now() - start
    const { ms, usage: found } = await ask(chat, 'And what else?')
    chat.dispose()
    restoreMs = Math.min(restoreMs, restored)
    usage = found
    return restored + ms
  })
  const cold = await best(async () => {
    const chat = model.chat({
      messages: [
        { role: 'user', ...message, detail },
        { role: 'assistant', text: answer },
      ],
    })
    const { ms } = await ask(chat, 'And what else?')
    chat.dispose()
    return ms
  })
  const { promptTokens, cachedTokens } = /** @type {any} */ (usage)
  // What both must do: the new question.
  const recomputing = cold - (hot - restoreMs)
  console.log(
    '| model | detail | kv | prompt tokens (restored) | file | save | restore | recompute | ratio | first word restored | first word recomputed |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |')
  console.log(
    `| ${basename(reference)} | ${detail} | ${values.kv} | ${promptTokens} (${cachedTokens}) | ${(statSync(path).size / 1e6).toFixed(2)} MB | ${saveMs.toFixed(1)} ms | ${restoreMs.toFixed(1)} ms | ${recomputing.toFixed(0)} ms | ${(recomputing / restoreMs).toFixed(0)}x | ${hot.toFixed(0)} ms | ${cold.toFixed(0)} ms |`,
  )
} finally {
  await model.dispose()
  rmSync(folder, { recursive: true })
}
