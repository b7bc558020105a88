/** Running one operation of the reference on plain arrays, for tests. */
import { expect } from 'vitest'
import type { DeviceBuffer } from '../backend.ts'
import { OPS, type OpName } from '../ops.ts'
import { createReferenceBackend } from './reference-backend.ts'

type Bytes = Uint8Array | Float32Array | Int32Array

/**
 * @param args Numbers and types as they are, buffers as arrays.
 * @param result The argument to read back.
 */
export async function runOp(
  op: OpName,
  args: Readonly<Record<string, number | string | Bytes | undefined>>,
  result: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const backend = createReferenceBackend()
  const buffers = new Map<string, DeviceBuffer>()
  const kinds: Readonly<Record<string, string>> = OPS[op].args
  const passed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) {
    if (!kinds[name]?.endsWith('buffer') || value === undefined) {
      passed[name] = value
      continue
    }
    const { buffer, byteOffset, byteLength } = value as Bytes
    const device = backend.alloc(byteLength)
    backend.write(device, new Uint8Array(buffer, byteOffset, byteLength))
    buffers.set(name, device)
    passed[name] = device
  }
  backend.enqueue(op, passed as never)
  const target = buffers.get(result)!
  return backend.read(target, target.byteLength)
}

export async function runFloatOp(
  op: OpName,
  args: Readonly<Record<string, number | string | Bytes | undefined>>,
  result: string,
): Promise<Float32Array> {
  return new Float32Array((await runOp(op, args, result)).buffer)
}

/** Each found float32 is the nearest to the expected double, save for the last bit of the double itself. */
export function expectNearest(found: Float32Array, expected: Float64Array): void {
  expect(found.length).toBe(expected.length)
  const wrong = [...found.entries()].filter(
    ([i, value]) =>
      !(Math.abs(value - expected[i]!) <= Math.abs(expected[i]!) * 2 ** -24 * (1 + 1e-6) + 2 ** -150),
  )
  expect(wrong.map(([i, value]) => ({ i, value, expected: expected[i] }))).toEqual([])
}
