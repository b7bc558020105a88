// Error rates of a recogniser over the sentences that make_sentences.py spoke, in float32 and in int8. After a build:
//
//   node test/weights/sentences/count-errors.mjs FOLDER_OF_SOUNDS MODEL [en|zh]
//
// English counts words (lower case, no punctuation), Chinese characters (no punctuation, brought to simplified ones by
// asking for zh-Hans). Numbers in digits and in words count as different.
import { readFileSync } from 'node:fs'
import { loadRecognizer, readAudioFile } from '../../../dist/entry/speech.node.js'

const [folder = '', model = '', only] = process.argv.slice(2)

/** @type {Record<string, { tag: string, split: (text: string) => string[] }>} */
const LANGUAGES = {
  en: {
    tag: 'en',
    split: (text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}' ]/gu, ' ')
        .split(/\s+/)
        .filter(Boolean),
  },
  zh: { tag: 'zh-Hans', split: (text) => [...text.replace(/[\s\p{P}]/gu, '')] },
}

/** Substitutions, insertions and deletions from one list to the other. */
function distance(/** @type {string[]} */ from, /** @type {string[]} */ to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, item] of from.entries()) {
    const next = [index + 1]
    for (const [at, other] of to.entries())
      next.push(Math.min(row[at + 1] + 1, next[at] + 1, row[at] + (item === other ? 0 : 1)))
    row = next
  }
  return row[to.length]
}

console.log(
  '| language | precision | sentences | without an error | error rate | sound | seconds per second |',
)
console.log('| --- | --- | --- | --- | --- | --- | --- |')
for (const precision of /** @type {const} */ (['f32', 'q8'])) {
  const recognizer = await loadRecognizer(model, { precision })
  for (const [name, { tag, split }] of Object.entries(LANGUAGES)) {
    if (only !== undefined && only !== name) continue
    const texts = readFileSync(new URL(`${name}.txt`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
    let [errors, units, right, seconds, milliseconds] = [0, 0, 0, 0, 0]
    for (const [index, text] of texts.entries()) {
      const path = `${folder}/${name}-${String(index + 1).padStart(3, '0')}.wav`
      for await (const event of recognizer.transcribe(readAudioFile(path), { language: tag })) {
        if (event.type !== 'transcript-finished') continue
        const wrong = distance(split(text), split(event.text))
        if (wrong > 0) console.error(`${precision} ${name}-${index + 1} ${wrong}: ${event.text}`)
        errors += wrong
        units += split(text).length
        right += wrong === 0 ? 1 : 0
        seconds += event.duration
        milliseconds += event.timings.totalMs
      }
    }
    const cells = [name, precision, texts.length, right, `${((100 * errors) / units).toFixed(2)} %`]
    console.log(
      `| ${[...cells, `${seconds.toFixed(0)} s`, (milliseconds / 1000 / seconds).toFixed(3)].join(' | ')} |`,
    )
  }
  await recognizer.dispose()
}
