/** Ranges of memory that the commands since the last barrier read and write: `start, end, start, end, …`. */
export class DependencyTracker {
  readonly #reads: number[] = []
  readonly #writes: number[] = []

  /**
   * Adds a command with what it reads and writes. True when it must wait for those before it: it touches what they
   * write, or writes what they read. The list then begins anew with it.
   */
  add(reads: readonly number[], writtenStart: number, writtenEnd: number): boolean {
    const waits =
      overlaps(this.#writes, writtenStart, writtenEnd) ||
      overlaps(this.#reads, writtenStart, writtenEnd) ||
      anyOverlap(this.#writes, reads)
    if (waits) this.clear()
    this.#reads.push(...reads)
    this.#writes.push(writtenStart, writtenEnd)
    return waits
  }

  clear(): void {
    this.#reads.length = 0
    this.#writes.length = 0
  }
}

function overlaps(ranges: readonly number[], start: number, end: number): boolean {
  for (let index = 0; index < ranges.length; index += 2) {
    if ((ranges[index] as number) < end && start < (ranges[index + 1] as number)) return true
  }
  return false
}

function anyOverlap(ranges: readonly number[], others: readonly number[]): boolean {
  for (let index = 0; index < others.length; index += 2) {
    if (overlaps(ranges, others[index] as number, others[index + 1] as number)) return true
  }
  return false
}
