// Saves a conversation to the file that is its argument, again and again, one turn longer each time, until it is killed.
// Says "saving" before and "saved" after each.
import { bundledModelPath, loadModel } from '../../dist/entry/index.node.js'

const [path = '', picture = ''] = process.argv.slice(2)
const model = await loadModel(bundledModelPath(), { threads: 1, kv: 'f32' })
const chat = model.chat()
for (let round = 0; ; round++) {
  const message = { text: `Round ${round}`, ...(round === 0 && { images: [picture] }) }
  for await (const _ of chat.send(message, { maxTokens: 2, ignoreEos: true })) {
    // Only the turn matters.
  }
  process.stdout.write('saving\n')
  await chat.save(path)
  process.stdout.write('saved\n')
}
