import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { listOtherModels } from './other-models.ts'

const folders = useTemporaryFolders()
const OLD = 'a'.repeat(40)
const NEW = 'b'.repeat(40)

async function list(home: string, env: Record<string, string> = {}, platform: NodeJS.Platform = 'linux') {
  const models = await listOtherModels(env, platform, home)
  return models.map(({ program, name, path, projector, byteLength }) => ({
    program,
    name,
    path: path.slice(home.length + 1),
    ...(projector !== undefined && { projector: projector.slice(home.length + 1) }),
    byteLength,
  }))
}

describe('Hugging Face', () => {
  it('snapshots that are whole', async () => {
    const root = '.cache/huggingface/hub/models--owner--name'
    const home = folders.create({
      [`${root}/refs/main`]: NEW,
      [`${root}/blobs/weights`]: '12345',
      [`${root}/snapshots/${NEW}/config.json`]: '{}',
      [`${root}/snapshots/${OLD}/config.json`]: '{}',
      [`${root}/snapshots/${OLD}/model.safetensors`]: '123',
      // Still being fetched: a shard is missing, and a link leads nowhere.
      [`${root}/snapshots/${'c'.repeat(40)}/config.json`]: '{}',
      [`${root}/snapshots/${'c'.repeat(40)}/model.safetensors.index.json`]: JSON.stringify({
        weight_map: { a: 'x-1.safetensors', b: 'x-2.safetensors' },
      }),
      [`${root}/snapshots/${'c'.repeat(40)}/x-1.safetensors`]: '1',
      [`${root}/snapshots/${'d'.repeat(40)}/config.json`]: '{}',
      '.cache/huggingface/hub/datasets--owner--name/snapshots/x/config.json': '{}',
    })
    await symlink('../../blobs/weights', join(home, root, 'snapshots', NEW, 'model.safetensors'))
    await symlink('../../blobs/gone', join(home, root, 'snapshots', 'd'.repeat(40), 'model.safetensors'))
    expect(await list(home)).toEqual([
      {
        program: 'huggingface',
        name: `owner/name@${OLD.slice(0, 12)}`,
        path: `${root}/snapshots/${OLD}`,
        byteLength: 3,
      },
      { program: 'huggingface', name: 'owner/name', path: `${root}/snapshots/${NEW}`, byteLength: 5 },
    ])
  })

  it('shards by their index, GGUF files by name', async () => {
    const root = 'cache/models--o--n'
    const home = folders.create({
      [`${root}/snapshots/${NEW}/config.json`]: '{}',
      [`${root}/snapshots/${NEW}/model.safetensors.index.json`]: JSON.stringify({
        weight_map: { a: 'x-1.safetensors', b: 'x-2.safetensors', c: 'x-1.safetensors' },
      }),
      [`${root}/snapshots/${NEW}/x-1.safetensors`]: '1',
      [`${root}/snapshots/${NEW}/x-2.safetensors`]: '22',
      'cache/models--o--g/refs/main': NEW,
      [`cache/models--o--g/snapshots/${NEW}/a-Q8_0.gguf`]: '4444',
      [`cache/models--o--g/snapshots/${NEW}/mmproj-a.gguf`]: '1',
    })
    const expected = [
      {
        program: 'huggingface',
        name: 'o/g/a-Q8_0',
        path: `cache/models--o--g/snapshots/${NEW}/a-Q8_0.gguf`,
        byteLength: 4,
      },
      {
        program: 'huggingface',
        name: `o/n@${NEW.slice(0, 12)}`,
        path: `${root}/snapshots/${NEW}`,
        byteLength: 3,
      },
    ]
    for (const name of ['HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE'])
      expect(await list(home, { [name]: join(home, 'cache') })).toEqual(expected)
    expect(await list(home, { LLAMA_CACHE: join(home, 'cache') })).toEqual(
      expected.map((model) => ({ ...model, program: 'llama.cpp' })),
    )
  })
})

it('llama.cpp: files by name, parts as one, projectors not by themselves', async () => {
  const files = {
    'org_repo_a-Q4.gguf': '333',
    'org_repo_mmproj-a.gguf': '1',
    'b-00001-of-00002.gguf': '11',
    'b-00002-of-00002.gguf': '2222',
    'c-00001-of-00002.gguf': '1',
    'empty.gguf': '',
    'manifest.json': '{}',
  }
  const place = async (folder: string, platform: NodeJS.Platform, env: Record<string, string> = {}) => {
    const home = folders.create(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text])),
    )
    expect(await list(home, env, platform)).toEqual([
      { program: 'llama.cpp', name: 'b', path: `${folder}/b-00001-of-00002.gguf`, byteLength: 6 },
      { program: 'llama.cpp', name: 'org_repo_a-Q4', path: `${folder}/org_repo_a-Q4.gguf`, byteLength: 3 },
    ])
  }
  await place('.cache/llama.cpp', 'linux')
  await place('Library/Caches/llama.cpp', 'darwin')
  await place('AppData/Local/llama.cpp', 'win32')
})

it('LM Studio: two levels, old and new place', async () => {
  const home = folders.create({
    '.lmstudio/models/pub/repo/a-Q8_0.gguf': '22',
    '.lmstudio/models/pub/repo/mmproj-a.gguf': '1',
    '.lmstudio/models/pub/loose.gguf': '1',
    '.cache/lm-studio/models/pub/old/b.gguf': '333',
  })
  expect(await list(home)).toEqual([
    {
      program: 'lm-studio',
      name: 'pub/repo/a-Q8_0',
      path: '.lmstudio/models/pub/repo/a-Q8_0.gguf',
      byteLength: 2,
    },
    {
      program: 'lm-studio',
      name: 'pub/old/b',
      path: '.cache/lm-studio/models/pub/old/b.gguf',
      byteLength: 3,
    },
  ])
})

it('Ollama: layers of manifests', async () => {
  const [text, projector, cut] = ['1', '2', '3'].map((digit) => digit.repeat(64))
  const layer = (kind: string, digest: string, size: number) => ({
    mediaType: `application/vnd.ollama.image.${kind}`,
    digest: `sha256:${digest}`,
    size,
  })
  const manifest = (...layers: object[]): string => JSON.stringify({ schemaVersion: 2, layers })
  const root = '.ollama/models'
  const home = folders.create({
    [`${root}/manifests/registry.ollama.ai/library/llava/7b`]: manifest(
      layer('template', text!, 3),
      layer('model', text!, 4),
      layer('projector', projector!, 2),
    ),
    [`${root}/manifests/hf.co/owner/thing/Q8_0`]: manifest(layer('model', text!, 4)),
    [`${root}/manifests/registry.ollama.ai/someone/own/latest`]: manifest(layer('model', text!, 4)),
    // Half fetched, outside the store, no manifest.
    [`${root}/manifests/registry.ollama.ai/library/cut/latest`]: manifest(layer('model', cut!, 100)),
    [`${root}/manifests/registry.ollama.ai/library/evil/latest`]: manifest({
      mediaType: 'application/vnd.ollama.image.model',
      digest: 'sha256:../../../../etc/passwd',
      size: 1,
    }),
    [`${root}/manifests/registry.ollama.ai/library/broken/latest`]: '{"layers":[null]',
    [`${root}/manifests/registry.ollama.ai/library/odd/latest`]: 'null',
    [`${root}/blobs/sha256-${text}`]: '4444',
    [`${root}/blobs/sha256-${projector}`]: '22',
    [`${root}/blobs/sha256-${cut}`]: '3',
  })
  const path = `${root}/blobs/sha256-${text}`
  expect(await list(home)).toEqual([
    { program: 'ollama', name: 'hf.co/owner/thing:Q8_0', path, byteLength: 4 },
    {
      program: 'ollama',
      name: 'llava:7b',
      path,
      projector: `${root}/blobs/sha256-${projector}`,
      byteLength: 4,
    },
    { program: 'ollama', name: 'someone/own:latest', path, byteLength: 4 },
  ])
})

it('nothing where there is nothing', async () => {
  expect(await list(folders.create({}))).toEqual([])
})
