// The rows of the table. A row is a name and `measure`, which runs the engine once in a process of its own and
// returns a record (see metrics.mjs). An engine that is no npm package joins with a row that starts its command
// and maps its JSON to the same record.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Runs a script under this Node and parses the last line of its output. */
async function runScript(script, model, threads) {
  if (!existsSync(`${HERE}models/${model}`)) {
    throw new Error(`bench/peers/models/${model} is missing. Run: python3 make_peer_models.py`)
  }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, `models/${model}`, String(threads)],
    {
      cwd: HERE,
    },
  )
  return JSON.parse(stdout.trimEnd().split('\n').at(-1))
}

const row = (name, what, script, model) => ({
  name,
  what,
  measure: (threads) => runScript(script, model, threads),
})

/**
 * Our own engine through its command, as a user runs it. `subject`: arguments of `onsight bench`. Of the shape it makes
 * the whole model, picture tower included, so load time and memory are for more than the text models above.
 */
const ours = (name, what, subject, pick) => ({
  name,
  what,
  measure: async (threads) => {
    const command = `${HERE}../../dist/cli/main.js`
    if (!existsSync(command)) throw new Error('dist is missing. Run in the repository: npm run build')
    const args = [command, 'bench', ...subject, '--threads', String(threads), '--repeat', '3', '--json']
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: HERE })
    return pick(JSON.parse(stdout).numbers)
  },
})

const pickText = (numbers) => ({
  decode0: numbers.decodeTokensPerSecond0,
  decode512: numbers.decodeTokensPerSecond512,
  prefill64: numbers.prefillTokensPerSecond64,
  prefill512: numbers.prefillTokensPerSecond512,
  loadMs: numbers.loadMs,
  peakMiB: (numbers.peakResidentMegabytes * 1e6) / 2 ** 20,
})

/** `--engine` takes a whole name, or the part before the colon for all rows of that engine. */
export const ENGINES = [
  ours('onsight:text', 'Q4_0, head Q8_0', ['models/text-head8.gguf'], pickText),
  ours('onsight:tile', 'Q8_0', ['--shape', 'smolvlm-500m'], (numbers) => ({
    tileMs: numbers.imageEncodeMsPerTile,
  })),
  row('onnxruntime-node:text', 'int4, head int8', 'onnxruntime-text.mjs', 'text-head8.onnx'),
  row('onnxruntime-node:text-head4', 'int4, head int4', 'onnxruntime-text.mjs', 'text-head4.onnx'),
  row('llama.cpp:text', 'Q4_0, head Q8_0', 'llama-text.mjs', 'text-head8.gguf'),
  row('llama.cpp:text-head4', 'Q4_0, head Q4_0', 'llama-text.mjs', 'text-head4.gguf'),
  row('onnxruntime-node:tile', 'int8, dynamic', 'onnxruntime-vision.mjs', 'vision-dynamic.onnx'),
  row('onnxruntime-node:tile-static', 'int8, static QDQ', 'onnxruntime-vision.mjs', 'vision-static.onnx'),
  row('onnxruntime-node:tile-nbits8', 'int8, MatMulNBits', 'onnxruntime-vision.mjs', 'vision-nbits8.onnx'),
  row('onnxruntime-node:tile-f32', 'float32', 'onnxruntime-vision.mjs', 'vision-f32.onnx'),
]
