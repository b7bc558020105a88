// Runs a list of commands on every thread at once. Threads take pieces of a command from its own counter, so a slow
// core never holds up the others, and meet at a barrier before the next command. Layout of a command (32-bit words):
//
//   0 operation   1 counter of taken pieces   2 pieces   3 pieces per grab   4 flags   5.. arguments
//
// Control words (shared with the host, src/backend/wasm/control-words.ts) lie below the kernels' own data.

import { dispatch } from './dispatch'
import { dotKind } from './dot-kind'

const COMMAND_BYTES: usize = 80
const ARGUMENTS: usize = 20

const ARRIVED: usize = 1024
const GENERATION: usize = 1088
const SLEEPERS: usize = 1152
const CANCEL: usize = 1216
const CANCELLED_LIST: usize = 1220
const FAILED: usize = 1280

/** Spins before a waiting thread sleeps: about 50 microseconds, longer than most commands differ between threads. */
const SPINS: i32 = 20000
/** A sleeping thread looks up this often, in case the thread it waits for has died. */
const SLEEP_NANOSECONDS: i64 = 20000000

/**
 * Waits for all threads. False: this list was cancelled, or a thread failed. The last thread to arrive decides on
 * cancelling for all, by the list's own number, so that they stop at the same command and nothing needs a reset.
 */
function meet(threads: i32, list: i32): bool {
  const generation = atomic.load<i32>(GENERATION)
  if (threads == 1 || atomic.add<i32>(ARRIVED, 1) == threads - 1) {
    if (atomic.load<i32>(CANCEL) != 0) atomic.store<i32>(CANCELLED_LIST, list)
    atomic.store<i32>(ARRIVED, 0)
    atomic.add<i32>(GENERATION, 1)
    if (atomic.load<i32>(SLEEPERS) != 0) atomic.notify(GENERATION, -1)
  } else {
    let spins = 0
    while (atomic.load<i32>(GENERATION) == generation) {
      if (++spins < SPINS) continue
      if (atomic.load<i32>(FAILED) != 0) return false
      atomic.add<i32>(SLEEPERS, 1)
      atomic.wait<i32>(GENERATION, generation, SLEEP_NANOSECONDS)
      atomic.sub<i32>(SLEEPERS, 1)
    }
  }
  return atomic.load<i32>(CANCELLED_LIST) != list && atomic.load<i32>(FAILED) == 0
}

/**
 * Runs `count` commands as one of `threads` threads; `scratch` is this thread's own, `list` numbers the lists from 1.
 * Returns 0 when done, 1 when cancelled or failed.
 */
export function run(commands: usize, count: i32, threads: i32, scratch: usize, list: i32): i32 {
  let command = commands
  for (let i = 0; i < count; i++) {
    const operation = load<i32>(command)
    const pieces = load<i32>(command, 8)
    const grab = load<i32>(command, 12)
    const flags = load<i32>(command, 16)
    for (;;) {
      const begin = atomic.add<i32>(command + 4, grab)
      if (begin >= pieces) break
      dispatch(operation, command + ARGUMENTS, begin, min(begin + grab, pieces), scratch)
    }
    command += COMMAND_BYTES
    // Flag 1: the next command does not depend on this one.
    if ((flags & 1) == 0 || i == count - 1) {
      if (!meet(threads, list)) return 1
    }
  }
  return 0
}

/** First address that the host may hand out. */
export function firstFreeByte(): usize {
  return __heap_base
}

/** How this engine multiplies int8 (dot-kind.ts), for reports. */
export function dotKindCode(): i32 {
  return dotKind
}
