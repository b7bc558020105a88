import { describe, expect, it } from 'vitest'
import { encodeManifest, type ModelManifest, parseManifest } from './manifest.ts'

const MANIFEST: ModelManifest = {
  id: 'owner/name',
  revision: 'a'.repeat(40),
  requestedRevision: 'main',
  variant: 'safetensors',
  source: 'https://huggingface.co/owner/name',
  licence: 'apache-2.0',
  committedAt: '2026-11-30T20:00:00.000Z',
  files: [{ name: 'model.safetensors', byteLength: 5, sha256: 'b'.repeat(64), etag: 'c' }],
}

describe('a manifest', () => {
  it('reads as it was written', () => {
    expect(parseManifest(encodeManifest(MANIFEST))).toEqual(MANIFEST)
    const { licence: _, ...unlicensed } = MANIFEST
    expect(parseManifest(encodeManifest(unlicensed))).toEqual(unlicensed)
  })

  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['another version', JSON.stringify({ ...MANIFEST, version: 2 })],
    ['no files', encodeManifest({ ...MANIFEST, files: [] })],
    ['an id that is no text', JSON.stringify({ ...MANIFEST, version: 1, id: 3 })],
    [
      'a file outside',
      encodeManifest({ ...MANIFEST, files: [{ name: '../x', byteLength: 1, sha256: 'b'.repeat(64) }] }),
    ],
    [
      'a negative size',
      encodeManifest({ ...MANIFEST, files: [{ name: 'x', byteLength: -1, sha256: 'b'.repeat(64) }] }),
    ],
    [
      'half a hash',
      encodeManifest({ ...MANIFEST, files: [{ name: 'x', byteLength: 1, sha256: 'b'.repeat(32) }] }),
    ],
    ['a file that is nothing', JSON.stringify({ ...MANIFEST, version: 1, files: [null] })],
  ])('with %s is none', (_, text) => {
    expect(parseManifest(text)).toBeUndefined()
  })
})
