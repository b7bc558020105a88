import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { createNodeHubPorts, loadHubSettings } from './hub-ports.ts'

const folders = useTemporaryFolders()
const HUB = 'https://huggingface.co'
const nowhere = { HF_TOKEN_PATH: '/nowhere/token' }

describe('loadHubSettings', () => {
  it('needs nothing', async () => {
    expect(await loadHubSettings(HUB, nowhere)).toEqual({ endpoint: HUB })
  })

  it.each([
    ['https://mirror.example/', 'https://mirror.example'],
    ['http://127.0.0.1:8080/hf//', 'http://127.0.0.1:8080/hf'],
    ['https://mirror.example/hub?x=1#y', 'https://mirror.example/hub'],
  ])('takes the mirror %s', async (endpoint, expected) => {
    expect(await loadHubSettings(HUB, { ...nowhere, HF_ENDPOINT: endpoint })).toEqual({ endpoint: expected })
  })

  it.each(['mirror.example', 'ftp://mirror.example', 'https://user:hunter2@mirror.example'])(
    'refuses %s without repeating it',
    async (endpoint) => {
      await expect(loadHubSettings(HUB, { HF_ENDPOINT: endpoint })).rejects.toMatchObject({
        code: 'hub/bad-endpoint',
        message:
          'HF_ENDPOINT: expected an address such as https://huggingface.co, without user and password.',
      })
    },
  )

  it('takes a token from the environment, or from where logging in has left it', async () => {
    const home = folders.create({ token: 'hf_file\n', 'huggingface/token': 'hf_cache' })
    const tokenOf = async (env: Record<string, string>) => (await loadHubSettings(HUB, env)).token
    expect(await tokenOf({ HF_TOKEN: ' hf_env ', HF_HOME: home })).toBe('hf_env')
    expect(await tokenOf({ HF_HOME: home })).toBe('hf_file')
    expect(await tokenOf({ HF_TOKEN_PATH: join(home, 'token'), HF_HOME: '/nowhere' })).toBe('hf_file')
    expect(await tokenOf({ XDG_CACHE_HOME: home })).toBe('hf_cache')
  })

  it('refuses a token that is none without repeating it', async () => {
    await expect(loadHubSettings(HUB, { HF_TOKEN: 'hf_a\nX-Header: b' })).rejects.toMatchObject({
      code: 'hub/bad-token',
      message: 'HF_TOKEN: expected letters and digits without spaces, found other characters.',
    })
  })
})

it('hashes as the standards say', () => {
  const { createHash } = createNodeHubPorts()
  const hashOf = (name: 'sha1' | 'sha256', ...pieces: string[]): string => {
    const hasher = createHash(name)
    for (const piece of pieces) hasher.update(new TextEncoder().encode(piece))
    return hasher.digestHex()
  }
  expect(hashOf('sha256', 'a', 'bc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  // What git calls a file with "hello\n" in it.
  expect(hashOf('sha1', 'blob 6\0', 'hello\n')).toBe('ce013625030ba8dba906f756967f9e9ca394464a')
})

it('sleeping ends when it is aborted', async () => {
  const controller = new AbortController()
  const sleep = createNodeHubPorts().clock.sleep(60_000, controller.signal)
  controller.abort()
  await expect(sleep).rejects.toMatchObject({ name: 'AbortError' })
})
