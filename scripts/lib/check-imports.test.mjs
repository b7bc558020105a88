import { describe, expect, it } from 'vitest'
import { checkImports } from './check-imports.mjs'

/** @param {Record<string, string>} files @param {string[]} [dependencies] */
function problems(files, dependencies = []) {
  const { violations } = checkImports(new Map(Object.entries(files)), dependencies)
  return violations.map(({ file, line, message }) => `${file}:${line} ${message}`)
}

const leaf = { 'shared/errors.ts': '', 'backend/ops.ts': '', 'backend/check.ts': '', 'engine/types.ts': '' }

describe('checkImports', () => {
  it('lets imports go down the table', () => {
    expect(
      problems({
        ...leaf,
        'models/decoder.ts': "import { OPS } from '../backend/ops.ts'\nimport '../shared/errors.ts'",
        'engine/load.ts': "import '../backend/check.ts'\nimport '../models/decoder.ts'\nimport './types.ts'",
        'album/index.ts': "import type { Model } from '../engine/types.ts'",
      }),
    ).toEqual([])
  })

  it('reports imports that go up or sideways, of types too', () => {
    expect(
      problems({
        ...leaf,
        'shared/errors.ts': "import type { Model } from '../engine/types.ts'",
        'quant/decode.ts': "\nexport { x } from '../text/bpe.ts'",
        'text/bpe.ts': "const late = await import('../quant/decode.ts')",
      }),
    ).toEqual([
      'shared/errors.ts:1 shared may not import engine; it may import nothing',
      'quant/decode.ts:2 quant may not import text; it may import shared',
      'text/bpe.ts:1 text may not import quant; it may import shared',
    ])
  })

  it('opens single files of a folder only', () => {
    expect(problems({ ...leaf, 'models/decoder.ts': "import '../backend/check.ts'" })).toEqual([
      'models/decoder.ts:1 models may not import backend/check.ts; it may import shared, quant, text, constraint, image, audio, formats, backend/backend.ts, backend/ops.ts, backend/cache-rows.ts',
    ])
  })

  it('opens sub-folders of a folder only', () => {
    const files = { ...leaf, 'speech/text/cutter.ts': '', 'speech/vad/gate.ts': '' }
    expect(problems({ ...files, 'album/say.ts': "import '../speech/text/cutter.ts'" })).toEqual([])
    expect(problems({ ...files, 'album/say.ts': "import '../speech/vad/gate.ts'" })).toEqual([
      'album/say.ts:1 album may not import speech/vad/gate.ts; it may import shared, audio, engine/types.ts, speech/types.ts, speech/text',
    ])
  })

  it('keeps drivers and hosts apart', () => {
    expect(
      problems({
        ...leaf,
        'backend/wasm/driver.ts': "import '../ops.ts'\nimport '../reference/norm.ts'\nimport './arena.ts'",
        'backend/wasm/arena.ts': '',
        'backend/reference/norm.ts': '',
        'backend/ops.ts': "import './wasm/driver.ts'",
      }),
    ).toEqual([
      'backend/ops.ts:1 backend may not import backend/wasm: alternatives do not know each other',
      'backend/wasm/driver.ts:2 backend/wasm may not import backend/reference: alternatives do not know each other',
    ])
  })

  it('lets hosts see types of every layer and start worker files, no more', () => {
    expect(
      problems({
        ...leaf,
        'backend/wasm/worker.js': '',
        'host/node/workers.ts': [
          "import type { Model } from '../../engine/types.ts'",
          "import '../../backend/ops.ts'",
          "new URL('../../backend/wasm/worker.js', import.meta.url)",
          "new URL('../../backend/wasm/gone.js', import.meta.url)",
        ].join('\n'),
      }),
    ).toEqual([
      'host/node/workers.ts:2 host may not import backend; it may import shared, image, audio, speech/text',
      'host/node/workers.ts:4 names src/backend/wasm/gone.js, which does not exist',
    ])
  })

  it('keeps hosts and entries out of the inside', () => {
    expect(
      problems({
        'host/node/files.ts': '',
        'entry/index.node.ts': "export * from '../host/node/files.ts'",
        'engine/load.ts': "import '../host/node/files.ts'\nimport '../entry/index.node.ts'",
      }),
    ).toEqual([
      'engine/load.ts:1 engine may not import host; it may import shared, quant, text, constraint, image, audio, formats, convert, backend, models, generation, engine',
      'engine/load.ts:2 engine may not import entry; it may import shared, quant, text, constraint, image, audio, formats, convert, backend, models, generation, engine',
    ])
  })

  it('keeps what only some hosts have under host, entry and cli', () => {
    expect(
      problems({
        'image/decode.ts': [
          "import { readFile } from 'node:fs/promises'",
          "import fs from 'fs'",
          'const wide = window.innerWidth',
          'if (globalThis.process.argv) { }',
          "const attentionWindow = 3 // window\nconst text = 'document'",
        ].join('\n'),
        'cli/main.ts': "import { argv } from 'node:process'\nprocess.exit()",
      }),
    ).toEqual([
      'image/decode.ts:1 node:fs/promises belongs under host, entry, cli only',
      'image/decode.ts:2 write "node:fs"',
      'image/decode.ts:3 "window" exists in some hosts only; it belongs under host, entry, cli',
      'image/decode.ts:4 "process" exists in some hosts only; it belongs under host, entry, cli',
    ])
  })

  it('gives each dependency one home', () => {
    expect(
      problems(
        {
          'host/node/pictures.ts': "import sharp from 'sharp'\nimport 'left-pad'",
          'text/template.ts': "import { Template } from '@huggingface/jinja/sub/path'\nimport 'sharp'",
        },
        ['sharp', '@huggingface/jinja', 'commander'],
      ),
    ).toEqual([
      'host/node/pictures.ts:2 "left-pad" is not among the dependencies of package.json',
      'text/template.ts:2 "sharp" is used in src/host only',
      '../package.json:1 no file imports the dependency "commander"',
    ])
  })

  it('asks for a row for every folder and keeps test code out of the product', () => {
    expect(
      problems({
        'magic/wand.ts': '',
        'quant/decode.test.ts': "import 'vitest'\nimport '../engine/types.ts'",
        'quant/decode.ts': "import './decode.test.ts'\nimport '../../test/golden/vectors.ts'",
      }),
    ).toEqual([
      'magic/wand.ts:1 the folder "magic" has no row in scripts/lib/layer-table.mjs',
      'quant/decode.ts:1 imports test code, src/quant/decode.test.ts',
      'quant/decode.ts:2 imports ../test/golden/vectors.ts, which is outside src/',
    ])
  })

  it('returns the run-time imports', () => {
    const { graph } = checkImports(
      new Map([
        ['shared/a.ts', "import './b.ts'\nimport type { C } from './c.ts'"],
        ['shared/b.ts', "import('./a.ts')"],
        ['shared/c.ts', ''],
      ]),
      [],
    )
    expect([...graph]).toEqual([
      ['shared/a.ts', ['shared/b.ts']],
      ['shared/b.ts', ['shared/a.ts']],
      ['shared/c.ts', []],
    ])
  })
})
