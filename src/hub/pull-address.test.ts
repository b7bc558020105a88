import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BYTES, failure, ggufBytes, openTestHub, SHA256 } from './test-hub.case.ts'

describe('files at other addresses', () => {
  it('are fetched, and known by their address', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'm/model.gguf': BYTES } })
    const address = `${fake.endpoint}/plain/m/model.gguf?token=secret`
    const { model } = await hub.pull(address)
    const host = new URL(fake.endpoint).host.replace(':', '_')
    expect([model.id, model.variant, model.source]).toEqual([
      `${host}/model.gguf`,
      'model',
      `${fake.endpoint}/plain/m/model.gguf`,
    ])
    expect(model.files).toEqual([
      { name: 'model.gguf', byteLength: 300_000, sha256: SHA256, etag: SHA256.slice(0, 16) },
    ])
    expect((await hub.find(address))?.model).toEqual(model)
    expect((await hub.pull(address)).wasStored).toBe(true)
    expect(await readFile(join(model.location, 'onsight-model.json'), 'utf8')).not.toContain('secret')
  })

  it('are fetched anew when the server has others', async () => {
    const { fake, hub } = await openTestHub()
    const address = `${fake.endpoint}/plain/model.gguf`
    fake.setRepository('plain', { files: { 'model.gguf': BYTES } })
    await hub.pull(address)
    const changed = ggufBytes(1000, 5)
    fake.setRepository('plain', { files: { 'model.gguf': changed } })
    const { model, wasStored } = await hub.pull(address)
    expect(wasStored).toBe(false)
    expect(await readFile(join(model.location, 'model.gguf'))).toEqual(Buffer.from(changed))
    expect(await hub.list()).toEqual([model])
  })

  it('bring what lies beside safetensors', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', {
      files: {
        'm/model.safetensors': BYTES,
        'm/config.json': '{"a":1}',
        'm/tokenizer.json': '{}',
        'm/README.md': 'x',
      },
    })
    const { model } = await hub.pull(`${fake.endpoint}/plain/m/model.safetensors`)
    expect(model.files.map(({ name }) => name)).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ])
  })

  it('need a configuration beside safetensors', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'm/model.safetensors': BYTES } })
    expect(await failure(hub.pull(`${fake.endpoint}/plain/m/model.safetensors`))).toMatchObject({
      code: 'hub/not-found',
      message: `config.json is not at ${fake.endpoint}/plain/m/config.json (404).`,
    })
  })

  it('may be of unknown length', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'model.gguf': BYTES } })
    const unknown = { kind: 'unknown-length' } as const
    fake.addFaults('model.gguf', { kind: 'ignore-range' }, unknown)
    const { model } = await hub.pull(`${fake.endpoint}/plain/model.gguf`)
    expect(model.files[0]).toMatchObject({ byteLength: 300_000, sha256: SHA256 })
  })

  it('cannot be pages', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'model.gguf': BYTES } })
    fake.addFaults('model.gguf', { kind: 'html' })
    expect(await failure(hub.pull(`${fake.endpoint}/plain/model.gguf`))).toMatchObject({
      code: 'hub/html',
      message: `model.gguf: expected a model file from ${fake.endpoint}/plain/model.gguf, found a web page.`,
    })
  })
})
