// Has a conversation about the pictures that are its arguments within a limit of memory, and prints what it took.
//
//   node peak-memory.mjs MODEL LIMIT_BYTES TOKENS_OF_AN_ANSWER [PICTURE…]
import { resourceUsage } from 'node:process'
import { loadModel } from '../../dist/entry/index.node.js'

const [path = '', limit, maxTokens, ...pictures] = process.argv.slice(2)
/** So that keys and values take their place. */
const LONG_QUESTION = `What is it? ${'Look again. '.repeat(60)}`
/** @type {import('../../dist/entry/index.node.js').MemoryPlan | undefined} */
let plan
const model = await loadModel(path, {
  memoryLimit: Number(limit),
  onMemoryPlan(made) {
    plan = made
  },
})
const chat = model.chat()
let promptTokens = 0
for (const picture of [...pictures, undefined]) {
  const message = { text: LONG_QUESTION, ...(picture !== undefined && { images: [picture] }) }
  for await (const event of chat.send(message, { maxTokens: Number(maxTokens), ignoreEos: true })) {
    if (event.type === 'answer-finished') promptTokens = event.usage.promptTokens
  }
}
await chat.save()
const peakBytes = resourceUsage().maxRSS * 1024
console.log(JSON.stringify({ peakBytes, plan, promptTokens, allocatedBytes: model.info.allocatedBytes }))
await model.dispose()
