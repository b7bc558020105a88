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

/** `--engine` takes a whole name, or the part before the colon for all rows of that engine. */
export const ENGINES = [
  row('onnxruntime-node:text', 'int4, head int8', 'onnxruntime-text.mjs', 'text-head8.onnx'),
  row('onnxruntime-node:text-head4', 'int4, head int4', 'onnxruntime-text.mjs', 'text-head4.onnx'),
  row('llama.cpp:text', 'Q4_0, head Q8_0', 'llama-text.mjs', 'text-head8.gguf'),
  row('llama.cpp:text-head4', 'Q4_0, head Q4_0', 'llama-text.mjs', 'text-head4.gguf'),
  row('onnxruntime-node:tile', 'int8, dynamic', 'onnxruntime-vision.mjs', 'vision-dynamic.onnx'),
  row('onnxruntime-node:tile-static', 'int8, static QDQ', 'onnxruntime-vision.mjs', 'vision-static.onnx'),
  row('onnxruntime-node:tile-nbits8', 'int8, MatMulNBits', 'onnxruntime-vision.mjs', 'vision-nbits8.onnx'),
  row('onnxruntime-node:tile-f32', 'float32', 'onnxruntime-vision.mjs', 'vision-f32.onnx'),
]
