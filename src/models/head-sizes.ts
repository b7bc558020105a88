/** Sizes of attention heads that the kernels take. */

/**
 * A thread's scratch memory holds a tile of keys, one of values, and the rows and sums of as many queries as fit, for
 * every head that shares them (kernels/wasm/attention.ts). The largest known model, 48 heads of 128 over one key/value
 * head, has 6,400 here.
 */
const MAX_SHARED_WIDTH = 8192

/** What is expected of the number of heads and is not so; undefined when all is well. */
export function headProblem(heads: number, kvHeads: number, headDim: number): string | undefined {
  if (heads % kvHeads !== 0) return `a multiple of the ${kvHeads} key/value heads`
  // Vectors of four floats.
  if (!Number.isInteger(headDim) || headDim < 4 || headDim % 4 !== 0)
    return `heads whose size is a multiple of 4 (it would be ${headDim})`
  if (3 * headDim > MAX_SHARED_WIDTH)
    return `heads of at most ${Math.floor(MAX_SHARED_WIDTH / 3)} elements (it would be ${headDim})`
  if ((heads / kvHeads + 2) * headDim > MAX_SHARED_WIDTH)
    return `at most ${Math.floor(MAX_SHARED_WIDTH / headDim) - 2} heads of size ${headDim} to a key/value head`
  return undefined
}
