/** Elements of pointwise work that are worth a thread's while: about 100 ns. */
const SLICE = 128

/** Cuts rows of pointwise work into shorter ones, so that a single row keeps several threads busy. */
export function slices(rows: number, columns: number): { rows: number; columns: number } {
  return columns % SLICE === 0 ? { rows: (rows * columns) / SLICE, columns: SLICE } : { rows, columns }
}
