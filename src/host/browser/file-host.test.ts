import { afterEach, describe, expect, it, vi } from 'vitest'
import { readBytes } from '../../shared/byte-source.ts'
import { createBrowserFileHost, type ModelReference } from './file-host.ts'

afterEach(() => vi.unstubAllGlobals())

function file(name: string, content = name, webkitRelativePath = ''): File {
  return Object.assign(new File([content], name), webkitRelativePath ? { webkitRelativePath } : {})
}

/** A server with these files. */
function serve(files: Readonly<Record<string, string>>) {
  const asked: string[] = []
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url)
    const content = files[url]
    return content === undefined ? new Response(null, { status: 404 }) : new Response(content)
  }
  return { asked, fetch }
}

async function readText(
  reference: ModelReference,
  ask: string | undefined,
  fileName: string,
  fetch = serve({}).fetch,
) {
  const { name, host } = createBrowserFileHost(reference, fetch)
  const { folder } = await host.locateModel(ask ?? name)
  const source = await folder.open(fileName)
  return new TextDecoder().decode(await readBytes(source, 0, source.byteLength))
}

describe('picked files', () => {
  it('are one folder, in which other references are files', async () => {
    const { name, host } = createBrowserFileHost([file('model.gguf'), file('mmproj.gguf')])
    const model = await host.locateModel(name)
    expect([name, model.fileName, await model.folder.list()]).toEqual([
      'the picked files',
      undefined,
      ['model.gguf', 'mmproj.gguf'],
    ])
    expect((await host.locateModel('mmproj.gguf')).fileName).toBe('mmproj.gguf')
    expect(await readText([file('a', 'text')], undefined, 'a')).toBe('text')
  })

  it('of a folder have its name; folders inside do not count', async () => {
    const files = [
      file('config.json', '1', 'SmolVLM/config.json'),
      file('config.json', '2', 'SmolVLM/onnx/config.json'),
      file('tokenizer.json', '3', 'SmolVLM/tokenizer.json'),
    ]
    const { name, host } = createBrowserFileHost(files)
    const { folder } = await host.locateModel(name)
    expect([name, await folder.list()]).toEqual(['SmolVLM', ['config.json', 'tokenizer.json']])
    expect(await readText(files, undefined, 'config.json')).toBe('1')
  })

  it('refused: none, others than files, two of one name', async () => {
    for (const reference of [
      [],
      5,
      [5],
      {},
      null,
      undefined,
      [new Blob(['a'])],
    ] as unknown as ModelReference[])
      expect(() => createBrowserFileHost(reference)).toThrow(
        expect.objectContaining({ code: 'option/invalid' }),
      )
    expect(() => createBrowserFileHost([file('a'), file('a')])).toThrow(
      expect.objectContaining({
        code: 'file/ambiguous-model',
        message: 'Two of the picked files are called a.',
      }),
    )
    await expect(readText([file('a')], undefined, 'b')).rejects.toMatchObject({
      code: 'file/not-found',
      message: 'There is no file b in the picked files.',
    })
  })
})

describe('a directory handle', () => {
  const handle = (failure?: DOMException) =>
    ({
      kind: 'directory',
      name: 'SmolVLM',
      async *entries() {
        if (failure) throw failure
        yield ['config.json', { kind: 'file' }]
        yield ['onnx', { kind: 'directory' }]
      },
      async getFileHandle(name: string) {
        if (name !== 'config.json') throw failure ?? new DOMException('gone', 'NotFoundError')
        return { getFile: async () => file(name, '{}') }
      },
    }) as unknown as FileSystemDirectoryHandle

  it('is a folder', async () => {
    const { name, host } = createBrowserFileHost(handle())
    expect([name, await (await host.locateModel(name)).folder.list()]).toEqual(['SmolVLM', ['config.json']])
    expect(await readText(handle(), undefined, 'config.json')).toBe('{}')
  })

  it('says what is missing and what may not be read', async () => {
    await expect(readText(handle(), undefined, 'other.json')).rejects.toMatchObject({
      code: 'file/not-found',
    })
    const refused = handle(new DOMException('Not allowed.', 'NotAllowedError'))
    const expected = { code: 'file/read-failed', message: 'SmolVLM could not be read: Not allowed.' }
    await expect(readText(refused, undefined, 'other.json')).rejects.toMatchObject(expected)
    const { name, host } = createBrowserFileHost(refused)
    await expect((await host.locateModel(name)).folder.list()).rejects.toMatchObject(expected)
  })
})

describe('an address', () => {
  const BASE = 'https://models.example/SmolVLM'

  it.each([BASE, `${BASE}/`, `${BASE}//`, new URL(BASE)])('of a folder: %s', async (reference) => {
    const { asked, fetch } = serve({
      [`${BASE}/config.json`]: '{}',
      [`${BASE}/model.safetensors`]: 'weights',
    })
    const { name, host } = createBrowserFileHost(reference, fetch)
    const { folder, fileName } = await host.locateModel(name)
    expect([folder.name, fileName]).toEqual([BASE, undefined])
    expect(await folder.list()).toEqual(['config.json', 'model.safetensors'])
    const count = asked.length
    expect((await folder.open('config.json')).byteLength).toBe(2)
    expect(asked.length).toBe(count)
    await expect(folder.open('../config.json')).rejects.toMatchObject({
      code: 'file/not-found',
      message: `There is no file ${BASE}/..%2Fconfig.json.`,
    })
  })

  it('of a file, with its projector beside it or elsewhere', async () => {
    const files = {
      [`${BASE}/a%20b.gguf`]: 'text',
      [`${BASE}/mmproj.gguf`]: 'beside',
      'https://other.example/p.gguf': 'far',
    }
    const { fetch } = serve(files)
    const reference = `${BASE}/a b.gguf`
    expect(await readText(reference, undefined, 'a b.gguf', fetch)).toBe('text')
    const { name, host } = createBrowserFileHost(reference, fetch)
    expect((await host.locateModel(name)).fileName).toBe('a b.gguf')
    expect(await readText(reference, 'mmproj.gguf', 'mmproj.gguf', fetch)).toBe('beside')
    expect(await readText(reference, 'https://other.example/p.gguf', 'p.gguf', fetch)).toBe('far')
  })

  it('keeps its query', async () => {
    const { fetch } = serve({ [`${BASE}/a.gguf?download=true`]: 'text' })
    expect(await readText(`${BASE}/a.gguf?download=true`, undefined, 'a.gguf', fetch)).toBe('text')
  })

  it('relative to the page', () => {
    vi.stubGlobal('location', new URL('https://app.example/deep/index.html'))
    expect(createBrowserFileHost('../models/tiny').name).toBe('https://app.example/models/tiny')
  })

  it.each([
    'models/tiny',
    'file:///models/tiny',
    'data:text/plain,a',
    '',
    'https://a.example/50%.gguf',
    'https://a.example/%E0%A4.gguf',
  ])('refused: %j', (reference) => {
    expect(() => createBrowserFileHost(reference)).toThrow(expect.objectContaining({ code: 'file/bad-url' }))
  })
})

describe('a picture', () => {
  const picture = (
    reference: string | URL,
    fetch = serve({ 'https://app.example/a.png': 'bytes' }).fetch,
  ) => {
    vi.stubGlobal('location', new URL('https://app.example/index.html'))
    return createBrowserFileHost('model', fetch).host.readPicture(reference)
  }

  it('of the page’s origin is fetched', async () => {
    expect(new TextDecoder().decode(await picture('a.png'))).toBe('bytes')
    const inline = await picture('data:,hello', async () => new Response('hello'))
    expect(new TextDecoder().decode(inline)).toBe('hello')
  })

  it('of another origin is not', async () => {
    const { asked, fetch } = serve({})
    for (const address of ['https://other.example/a.png', 'http://app.example/a.png', 'file:///a.png'])
      await expect(picture(address, fetch)).rejects.toMatchObject({ code: 'image/remote' })
    expect(asked).toEqual([])
  })

  it('that is missing is named', async () => {
    await expect(picture('b.png')).rejects.toMatchObject({
      code: 'file/read-failed',
      message: 'The picture b.png could not be fetched: the server answered 404.',
    })
  })
})
