/**
 * One compute thread. Plain JavaScript that needs only `self`, so that it runs as it is in a browser, in Node (whose
 * host gives it a `self`), from source and from `dist`.
 *
 * @typedef {import('./messages.ts').ToWorker} ToWorker
 * @typedef {import('./messages.ts').FromWorker} FromWorker
 * @typedef {{ run(commands: number, count: number, threads: number, scratch: number, list: number): number }} Kernels
 */

// The same numbers as control-words.ts: this file must not import, since some bundlers copy workers as they are.
const GENERATION = 1088 / 4
const FAILED = 1280 / 4
const WAKE = 1344 / 4
const COMMANDS = 1408 / 4
const COUNT = 1412 / 4

/** @type {(message: FromWorker, transfer?: ArrayBuffer[]) => void} */
const post = (message, transfer) => self.postMessage(message, { transfer: transfer ?? [] })

/** @type {import('./messages.ts').StartMessage} */
let start
/** @type {WebAssembly.Memory} */
let memory
/** @type {Kernels} */
let kernels

/** @param {unknown} error */
function reportFailure(error) {
  const words = new Int32Array(memory.buffer)
  Atomics.store(words, FAILED, 1)
  if (start.threads > 1) Atomics.notify(words, GENERATION)
  post({
    type: 'failed',
    thread: start.thread,
    message: error instanceof Error ? error.message : String(error),
  })
}

/** Followers sleep between command lists and run each list with the leader. */
function follow() {
  const words = new Int32Array(memory.buffer)
  for (let seen = 0; ; ) {
    Atomics.wait(words, WAKE, seen)
    seen = Atomics.load(words, WAKE)
    try {
      kernels.run(words[COMMANDS] ?? 0, words[COUNT] ?? 0, start.threads, start.scratch, seen)
    } catch (error) {
      reportFailure(error)
      return
    }
  }
}

/** @param {Int32Array<ArrayBuffer>} commands */
function lead(commands) {
  // An empty list has no barrier: followers woken for it could read the next list's words instead.
  if (commands.length === 0) return 0
  const words = new Int32Array(memory.buffer)
  words.set(commands, start.commands / 4)
  const count = commands.length / 20
  words[COMMANDS] = start.commands
  words[COUNT] = count
  const list = Atomics.add(words, WAKE, 1) + 1
  if (start.threads > 1) Atomics.notify(words, WAKE)
  return kernels.run(start.commands, count, start.threads, start.scratch, list)
}

/** @param {ToWorker} message */
function receive(message) {
  switch (message.type) {
    case 'start': {
      start = message
      memory = message.memory ?? new WebAssembly.Memory({ initial: message.pages, maximum: 65536 })
      const instance = new WebAssembly.Instance(message.module, { env: { memory, abort() {} } })
      kernels = /** @type {Kernels} */ (/** @type {unknown} */ (instance.exports))
      post({ type: 'ready' })
      if (message.thread > 0) follow()
      return
    }
    case 'run':
      post({ type: 'done', id: message.id, cancelled: lead(message.commands) !== 0 })
      return
    case 'write':
      new Uint8Array(memory.buffer).set(message.bytes, message.address)
      return
    case 'read': {
      const bytes = new Uint8Array(memory.buffer, message.address, message.byteLength).slice()
      post({ type: 'bytes', id: message.id, bytes: /** @type {Uint8Array<ArrayBuffer>} */ (bytes) }, [
        bytes.buffer,
      ])
      return
    }
    case 'grow':
      memory.grow(message.pages)
  }
}

self.onmessage = ({ data }) => {
  try {
    receive(data)
  } catch (error) {
    reportFailure(error)
  }
}
