import { describe, expect, it } from 'vitest'
import { createWrongKindError, detectContentKind } from './content-kind.ts'

const text = (content: string): Uint8Array => new TextEncoder().encode(content)

describe('detectContentKind', () => {
  it.each([
    ['empty', new Uint8Array(0)],
    ['gguf', text('GGUF\x03\0\0\0')],
    ['old-ggml', text('tjgg\x03\0\0\0')],
    ['safetensors', text('\x10\0\0\0\0\0\0\0{"a":{')],
    ['html', text('\ufeff\n <!DOCTYPE html><title>Sign in</title>')],
    ['html', text('<HTML>')],
    ['lfs-pointer', text('version https://git-lfs.github.com/spec/v1\noid sha256:')],
    ['zip', text('PK\x03\x04')],
    ['pickle', Uint8Array.of(0x80, 2, 0x8a, 10)],
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8)],
    ['json', text('\n{"model_type": "idefics3"}')],
    ['text', text('Grüße\nund mehr')],
    ['unknown', Uint8Array.of(1, 2, 3, 0)],
  ] as const)('%s', (kind, bytes) => {
    expect(detectContentKind(bytes)).toBe(kind)
  })
})

it('createWrongKindError says what was expected, what was found and what to do', () => {
  const error = createWrongKindError('model.gguf', 'a GGUF file', text('<!doctype html>'))
  expect(error.code).toBe('format/wrong-kind')
  expect(error.message).toBe('model.gguf: expected a GGUF file, found an HTML page.')
  expect(error.hint).toBe(
    'The download saved a web page (often a login or error page); use the direct download link.',
  )
})
