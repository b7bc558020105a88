/**
 * Words at the start of the kernels' memory that host and kernels share (kernels/wasm/program.ts). Byte addresses, a
 * cache line apart so that spinning on one does not slow the others.
 */
export const CONTROL = {
  /** Threads that have reached the barrier. */
  arrived: 1024,
  /** Counts barriers; sleeping threads wait on it. */
  generation: 1088,
  sleepers: 1152,
  /** Set to 1 to stop the running lists before their next command. */
  cancel: 1216,
  /** Set to 1 by a thread that trapped; the memory is then of no use. */
  failed: 1280,
  /** Counts command lists; follower threads wait on it. */
  wake: 1344,
  /** Address and length of the current list. */
  commands: 1408,
  count: 1412,
} as const

/** 32-bit words of a command: operation, counter, pieces, pieces per grab, flags, then arguments. */
export const COMMAND_WORDS = 20
export const COMMAND_ARGUMENTS = 5
export const COMMAND_FLAGS = 4
/** Flag: the next command depends on nothing since the last barrier. */
export const NO_BARRIER = 1
