// Loads `onsight serve` with clients of every kind: those that ask properly, leave in the middle, read slowly, or hold
// a connection and say nothing. Everybody who asks properly must get an answer or a proper error, and afterwards the
// server must be as it was. Build first, then: node bench/server-load.mjs [--seconds 60] [--clients 200]
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '200' },
    queue: { type: 'string', default: '64' },
  },
})
const clientCount = Number(values.clients)
const endAt = performance.now() + Number(values.seconds) * 1000
const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
const random = (/** @type {number} */ most) => Math.random() * most

const picture = readFileSync(new URL('../test/golden/tiny-cases/pictures/000.png', import.meta.url))
const url = `data:image/png;base64,${picture.toString('base64')}`
const bodyOf = (/** @type {boolean} */ stream) =>
  JSON.stringify({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: `What is it? ${Math.floor(random(50))}` },
          ...(Math.random() < 0.5 ? [{ type: 'image_url', image_url: { url } }] : []),
        ],
      },
    ],
    max_tokens: 8,
    stream,
  })

const server = spawn(
  process.execPath,
  [
    new URL('../dist/cli/main.js', import.meta.url).pathname,
    'serve',
    '--port',
    '0',
    '--queue',
    values.queue,
    '--json',
    '--quiet',
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
const exited = new Promise((resolve) => server.on('exit', (code, signal) => resolve(code ?? signal)))
const base = await new Promise((resolve) => {
  let text = ''
  server.stdout.on('data', (chunk) => {
    if (text.includes('\n')) return
    text += chunk
    if (text.includes('\n')) resolve(JSON.parse(text.split('\n', 1)[0] ?? '').url)
  })
})
const port = Number(new URL(base).port)

/** @type {Record<string, number>} */
const counts = {}
const count = (/** @type {string} */ name) => {
  counts[name] = (counts[name] ?? 0) + 1
}
/** @type {number[]} */
const latencies = []
/** @type {number[]} */
const healthLatencies = []

const post = (/** @type {boolean} */ stream, /** @type {AbortSignal} */ signal) =>
  fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bodyOf(stream),
    signal,
  })

async function askProperly() {
  const start = performance.now()
  const stream = Math.random() < 0.5
  try {
    const response = await post(stream, AbortSignal.timeout(120_000))
    const text = await response.text()
    const isProper = response.ok
      ? stream
        ? text.endsWith('data: [DONE]\n\n')
        : JSON.parse(text).choices.length === 1
      : typeof JSON.parse(text).error.message === 'string'
    count(isProper ? `status ${response.status}` : 'IMPROPER')
    if (response.ok) latencies.push(performance.now() - start)
    if (response.status === 429)
      await sleep(Number(response.headers.get('retry-after')) * 1000 * (0.5 + random(1)))
  } catch (error) {
    count(`NO ANSWER: ${error instanceof Error ? error.message : error}`)
  }
}

async function leave() {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), random(1500))
  try {
    await (await post(true, controller.signal)).text()
    count('leaving: was answered first')
  } catch {
    count('leaving: left')
  }
}

/** @param {(socket: import('node:net').Socket) => void} act */
function withSocket(act) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => act(socket))
    socket.on('error', () => {})
    socket.on('close', () => resolve(undefined))
  })
}

const head = (/** @type {number} */ length) =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

async function readSlowly() {
  const body = bodyOf(true)
  await withSocket((socket) => {
    socket.pause()
    socket.write(head(Buffer.byteLength(body)) + body)
    const timer = setInterval(() => {
      const byte = socket.read(1)
      if (byte === null && socket.readableEnded) socket.destroy()
    }, 20)
    setTimeout(() => socket.destroy(), 3000 + random(4000))
    socket.on('close', () => clearInterval(timer))
  })
  count('slow readers')
}

async function stayHalfOpen() {
  const body = bodyOf(false)
  const variant = Math.floor(random(4))
  await withSocket((socket) => {
    if (variant === 0) socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: local')
    if (variant === 1) socket.write(head(Buffer.byteLength(body)) + body.slice(0, 100))
    if (variant === 2) socket.end(head(Buffer.byteLength(body)) + body)
    if (variant === 3) socket.write(head(Buffer.byteLength(body)) + body, () => socket.resetAndDestroy())
    setTimeout(() => socket.destroy(), 2000 + random(6000))
  })
  count('half-open or reset connections')
}

const kinds = [
  askProperly,
  askProperly,
  askProperly,
  askProperly,
  askProperly,
  leave,
  leave,
  readSlowly,
  stayHalfOpen,
]

async function runClient() {
  await sleep(random(1000))
  while (performance.now() < endAt) await kinds[Math.floor(random(kinds.length))]?.()
}

const residentMegabytes = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024

async function metrics() {
  const text = await (await fetch(`${base}/metrics`)).text()
  const read = (/** @type {string} */ name) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  return {
    running: read('onsight_requests_running'),
    waiting: read('onsight_requests_waiting'),
    kept: read('onsight_conversations_kept{model="tiny"}'.replace(/[{}]/g, '\\$&')),
    memory: read('onsight_model_memory_bytes{model="tiny"}'.replace(/[{}]/g, '\\$&')),
  }
}

async function watch() {
  const samples = []
  while (performance.now() < endAt) {
    await sleep(500)
    const start = performance.now()
    await (await fetch(`${base}/health`)).text()
    healthLatencies.push(performance.now() - start)
    samples.push(residentMegabytes())
  }
  return samples
}

const before = { ...(await metrics()), resident: residentMegabytes() }
const watching = watch()
await Promise.all(Array.from({ length: clientCount }, runClient))
const samples = await watching
await sleep(3000)
const after = { ...(await metrics()), resident: residentMegabytes() }
server.kill('SIGTERM')
const exit = await exited

const percentile = (/** @type {number[]} */ list, /** @type {number} */ share) =>
  [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? Number.NaN
const half = Math.floor(samples.length / 2)
console.log(
  JSON.stringify(
    {
      seconds: Number(values.seconds),
      clients: clientCount,
      queue: Number(values.queue),
      counts,
      latencyMs: [0.5, 0.95, 1].map((share) => Math.round(percentile(latencies, share))),
      healthMs: [0.5, 0.95, 1].map((share) => Math.round(percentile(healthLatencies, share))),
      residentMB: {
        before: Math.round(before.resident),
        firstHalfMost: Math.round(Math.max(...samples.slice(0, half))),
        secondHalfMost: Math.round(Math.max(...samples.slice(half))),
        after: Math.round(after.resident),
      },
      before,
      after,
      exit,
    },
    null,
    2,
  ),
)
const isBroken = Object.keys(counts).some((name) => name.startsWith('NO ANSWER') || name === 'IMPROPER')
if (isBroken || after.running > 0 || after.waiting > 0 || after.kept > 4 || exit !== 143) process.exitCode = 1
