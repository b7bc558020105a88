import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeBlocks } from '../../quant/decode.ts'
import { readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { loadOnnx } from './load-onnx.ts'

const GOLDEN = new URL('../../../test/golden/onnx/', import.meta.url)
const bytes = new Uint8Array(readFileSync(new URL('small.onnx', GOLDEN)))
const expected: Record<string, { shape: number[]; values: number[] }> = JSON.parse(
  readFileSync(new URL('small.json', GOLDEN), 'utf8'),
)
const load = (content: Uint8Array) => loadOnnx(createMemorySource('small.onnx', content))

describe('loadOnnx', () => {
  it('finds tensors by name, with their values', async () => {
    const { tensors } = await load(bytes)
    expect([...tensors.keys()]).toEqual(['conv.weight', 'conv.bias', 'half', 'ids', 'scalar'])
    for (const name of ['conv.weight', 'conv.bias', 'half', 'scalar']) {
      const { type, shape, source, byteOffset, byteLength } = tensors.get(name)!
      expect(shape).toEqual(expected[name]!.shape)
      const values = new Float32Array(expected[name]!.values.length)
      decodeBlocks(type, await readBytes(source, byteOffset, byteLength), values)
      expect([...values]).toEqual(expected[name]!.values)
    }
    expect(tensors.get('ids')).toMatchObject({ type: 'I64', shape: [2, 2], byteLength: 32 })
  })

  it('lists the steps with what they read', async () => {
    expect((await load(bytes)).nodes).toEqual([
      {
        operation: 'Conv',
        inputs: ['x', 'conv.weight', 'conv.bias'],
        outputs: ['y'],
        lists: { kernel_shape: [5], pads: [2, 2] },
      },
      { operation: 'Relu', inputs: ['y'], outputs: ['z'], lists: {} },
    ])
  })

  it('refuses what is no ONNX file', async () => {
    await expect(load(new Uint8Array())).rejects.toMatchObject({ code: 'format/not-onnx' })
    await expect(load(new TextEncoder().encode('<html></html>'))).rejects.toBeInstanceOf(EngineError)
  })

  it('names the place where a file was cut off', async () => {
    await expect(load(bytes.subarray(0, bytes.length - 40))).rejects.toMatchObject({
      code: 'format/truncated',
      message: expect.stringMatching(
        /^small\.onnx: field \d+ at byte \d+ has \d+ bytes, but what holds it ends at byte \d+\.$/,
      ),
    })
  })

  it('survives any cut and any changed byte with an answer or an error of ours', async () => {
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice()
      changed[at] = (changed[at] as number) ^ (1 << (at % 8))
      for (const content of [changed, bytes.subarray(0, at)]) {
        await load(content).catch((error: unknown) => {
          if (!EngineError.isInstance(error)) throw error
        })
      }
    }
  })
})
