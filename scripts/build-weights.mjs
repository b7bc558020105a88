// Puts the weights of the voice gate as base64 into modules that are loaded on demand.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeBase64Module } from './lib/base64-module.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
for (const file of readdirSync(`${root}weights`).filter((name) => name.endsWith('.safetensors'))) {
  const name = file.replace('.safetensors', '')
  const licence = `${root}weights/${name}.LICENSE`
  const notice = existsSync(licence) ? readFileSync(licence, 'utf8') : undefined
  const bytes = readFileSync(`${root}weights/${file}`)
  const path = `${root}src/speech/vad/generated/${name}-weights.ts`
  writeBase64Module(path, 'scripts/build-weights.mjs', { WEIGHTS: bytes }, notice)
  console.log(`weights ${name}: ${bytes.length} bytes`)
}
