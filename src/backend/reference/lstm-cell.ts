import type { OpArguments } from '../backend.ts'
import { floatsAt } from './memory.ts'

export function lstmCell({ gates, state, rows, hidden }: OpArguments<'lstmCell'>): void {
  const values = floatsAt(gates, rows * 4 * hidden)
  const states = floatsAt(state, rows * 2 * hidden)
  for (let row = 0; row < rows; row++) {
    for (let unit = 0; unit < hidden; unit++) {
      const gate = (index: number): number => values[(row * 4 + index) * hidden + unit] as number
      const h = row * 2 * hidden + unit
      const c = h + hidden
      const cell = sigmoid(gate(1)) * (states[c] as number) + sigmoid(gate(0)) * Math.tanh(gate(2))
      states[c] = cell
      states[h] = sigmoid(gate(3)) * Math.tanh(cell)
    }
  }
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}
