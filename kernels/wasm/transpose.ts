/** Stores the columns of a 4 x 4 matrix given by rows, `strideBytes` apart. */
// @ts-ignore: decorator
@inline
export function storeTransposed(out: usize, strideBytes: usize, a: v128, b: v128, c: v128, d: v128): void {
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5), cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
  const ef = v128.shuffle<i32>(a, b, 2, 6, 3, 7), gh = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
  v128.store(out, v128.shuffle<i32>(ab, cd, 0, 1, 4, 5))
  v128.store(out + strideBytes, v128.shuffle<i32>(ab, cd, 2, 3, 6, 7))
  v128.store(out + strideBytes * 2, v128.shuffle<i32>(ef, gh, 0, 1, 4, 5))
  v128.store(out + strideBytes * 3, v128.shuffle<i32>(ef, gh, 2, 3, 6, 7))
}
