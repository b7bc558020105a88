import { describe, expect, it } from 'vitest'
import { parseReference } from './reference.ts'

const HUB = 'https://huggingface.co'
const repository = (id: string, revision?: string, file?: string) => ({
  kind: 'repository',
  id,
  revision,
  file,
})

describe('parseReference', () => {
  it.each([
    ['smolvlm-500m', repository('HuggingFaceTB/SmolVLM-500M-Instruct')],
    ['SmolVLM-256M-GGUF', repository('ggml-org/SmolVLM-256M-Instruct-GGUF')],
    ['smolvlm2-2.2b@v1', repository('HuggingFaceTB/SmolVLM2-2.2B-Instruct', 'v1')],
    ['owner/name', repository('owner/name')],
    ['owner/name@main', repository('owner/name', 'main')],
    ['owner/name@refs/pr/7', repository('owner/name', 'refs/pr/7')],
    ['owner/name.v1/a-Q8_0.gguf', repository('owner/name.v1', undefined, 'a-Q8_0.gguf')],
    ['owner/name@v2/a.gguf', repository('owner/name', 'v2', 'a.gguf')],
    ['https://huggingface.co/owner/name', repository('owner/name')],
    ['https://huggingface.co/owner/name/', repository('owner/name')],
    ['https://hf.co/owner/name/tree/v1', repository('owner/name', 'v1')],
    ['https://huggingface.co/owner/name/tree/v1/folder', repository('owner/name', 'v1')],
    ['https://huggingface.co/o/n/blob/main/Q8/a.gguf', repository('o/n', 'main', 'Q8/a.gguf')],
    [
      'https://huggingface.co/o/n/resolve/refs%2Fpr%2F1/a.gguf?download=true',
      repository('o/n', 'refs/pr/1', 'a.gguf'),
    ],
    ['https://huggingface.co/o/n/blob/main/config.json', repository('o/n', 'main')],
  ])('%s', (text, expected) => {
    expect(parseReference(text, HUB)).toEqual(expected)
  })

  it('takes addresses of the mirror in use for repositories', () => {
    expect(parseReference('https://mirror.example/owner/name', 'https://mirror.example')).toEqual(
      repository('owner/name'),
    )
  })

  it('takes other addresses for files, without showing what may be secret', () => {
    expect(parseReference('https://files.example:8443/m/a%20b.gguf?sig=x#y', HUB)).toEqual({
      kind: 'url',
      address: 'https://files.example:8443/m/a%20b.gguf?sig=x#y',
      shownAddress: 'https://files.example:8443/m/a%20b.gguf',
      id: 'files.example_8443/a b.gguf',
    })
  })

  it.each([
    './owner/name',
    '../name',
    '/owner/name',
    'name',
    'models/tiny/extra',
    'owner/name/',
    'C:\\models\\x',
    'owner\\name',
    'owner/na--me',
    'owner/..',
    'owner/name@',
    'owner/name@a..b',
    'owner/name@a b',
    'con/name',
    'folder/model.gguf',
    '',
  ])('%j is something else', (text) => {
    expect(parseReference(text, HUB)).toBeUndefined()
  })

  it.each([
    [
      'https://user:hunter2@example.com/a.gguf',
      'The address at example.com contains a user name or password.',
    ],
    [
      'https://example.com/page?x=secret',
      'https://example.com/page: expected the address of a .gguf or .safetensors file, found "page".',
    ],
    ['https://', 'https:// is no address.'],
  ])('%s cannot be fetched', (text, message) => {
    expect(() => parseReference(text, HUB)).toThrow(
      expect.objectContaining({ code: 'hub/bad-address', message }),
    )
  })
})
