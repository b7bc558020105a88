// What is measured, and the helpers that every engine's script shares.
//
// A record maps metric names to numbers; an engine leaves out what it cannot do.

import { readFileSync } from 'node:fs'

/** Metric name to its column heading and whether more is better. */
export const METRICS = {
  decode0: { heading: 'decode@0 tok/s', moreIsBetter: true },
  decode512: { heading: 'decode@512 tok/s', moreIsBetter: true },
  prefill64: { heading: 'prefill 64 tok/s', moreIsBetter: true },
  prefill512: { heading: 'prefill 512 tok/s', moreIsBetter: true },
  tileMs: { heading: 'tile ms', moreIsBetter: false },
  loadMs: { heading: 'load ms', moreIsBetter: false },
  peakMiB: { heading: 'peak RSS MiB', moreIsBetter: false },
}

const VOCAB = 49280
const DECODE_TOKENS = 32
const WARM_UP_TOKENS = 64

/** Token ids spread over the vocabulary, so that embedding rows are not all in the cache. */
const makePrompt = (length) => Array.from({ length }, (_, i) => (i * 7919) % VOCAB)

/**
 * Measures a text engine. `start(prompt)` forgets all context, evaluates the prompt and returns the first greedy
 * token; `step(token)` appends one token and returns the next. Context "0" starts from a prompt of one token.
 */
export async function measureText({ start, step }) {
  const record = {}
  await start(makePrompt(WARM_UP_TOKENS))
  for (const [promptLength, decode, prefill] of [
    [1, 'decode0'],
    [64, undefined, 'prefill64'],
    [512, 'decode512', 'prefill512'],
  ]) {
    const prompt = makePrompt(promptLength)
    let startMs = performance.now()
    let token = await start(prompt)
    if (prefill) record[prefill] = (promptLength * 1000) / (performance.now() - startMs)
    if (!decode) continue
    startMs = performance.now()
    for (let i = 0; i < DECODE_TOKENS; i++) token = await step(token)
    record[decode] = (DECODE_TOKENS * 1000) / (performance.now() - startMs)
  }
  return record
}

/**
 * Highest resident memory of this process in MiB, the mapped model file included. From /proc, because the
 * figure of getrusage starts from the parent's size in a spawned process.
 */
export function readPeakMiB() {
  const kibibytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
  if (kibibytes === undefined)
    throw new Error('/proc/self/status has no VmHWM line; this script needs Linux.')
  return Number(kibibytes) / 1024
}

export const printRecord = (record) => console.log(JSON.stringify({ ...record, peakMiB: readPeakMiB() }))
