/**
 * Activation functions in double. Forms: Hendrycks and Gimpel, "Gaussian Error Linear Units",
 * https://arxiv.org/abs/1606.08415; SiLU times gate: Shazeer, https://arxiv.org/abs/2002.05202.
 */
import type { OpArguments } from '../backend.ts'
import { ACTIVATIONS, type Activation } from '../ops.ts'
import { erf } from './erf.ts'
import { floatsAt } from './memory.ts'

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

const FUNCTIONS: Readonly<Record<Activation, (x: number) => number>> = {
  geluTanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  geluQuick: (x) => x * sigmoid(1.702 * x),
  geluErf: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  relu: (x) => Math.max(x, 0),
  tanh: Math.tanh,
  sigmoid,
  silu: (x) => x * sigmoid(x),
}

const FUNCTION_BY_CODE = new Map(
  Object.entries(ACTIVATIONS).map(([name, code]) => [code as number, FUNCTIONS[name as Activation]]),
)

export function activate({ x, kind, rows, columns }: OpArguments<'activate'>): void {
  const values = floatsAt(x, rows * columns)
  const activation = FUNCTION_BY_CODE.get(kind)
  if (activation !== undefined) values.set(values.map(activation))
}

/** The slope is a float32, as devices take it; the product then rounds once. */
export function leakyRelu({ x, rows, columns, slope }: OpArguments<'leakyRelu'>): void {
  const values = floatsAt(x, rows * columns)
  const factor = Math.fround(slope)
  values.set(values.map((value) => (value < 0 ? value * factor : value)))
}

export function siluMul({ gate, up, out, rows, columns }: OpArguments<'siluMul'>): void {
  const gates = floatsAt(gate, rows * columns)
  const ups = floatsAt(up, rows * columns)
  const target = floatsAt(out, rows * columns)
  for (let i = 0; i < target.length; i++) {
    const g = gates[i] as number
    target[i] = g * sigmoid(g) * (ups[i] as number)
  }
}

export function tanhSigmoidMul({ x, out, rows, columns }: OpArguments<'tanhSigmoidMul'>): void {
  const values = floatsAt(x, rows * 2 * columns)
  const products = floatsAt(out, rows * columns)
  for (let i = 0; i < products.length; i++) {
    const at = Math.floor(i / columns) * columns + i
    const gate = values[at + columns] as number
    products[i] = Math.tanh(values[at] as number) / (1 + Math.exp(-gate))
  }
}
