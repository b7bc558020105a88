/** What a page loads with the browser entry, from the built package. */
import { expect, it } from 'vitest'
import { collectModules } from '../../scripts/lib/module-size.mjs'
import { scanImports } from '../../scripts/lib/scan-imports.mjs'

const DIST = new URL('../../dist/', import.meta.url).href

const modules = collectModules(new URL('entry/index.browser.js', DIST))

it('needs nothing of Node, and no package but those that text needs', () => {
  const packages = [...modules].flatMap(([file, source]) =>
    scanImports(source)
      .filter(({ specifier, kind }) => kind !== 'type' && !specifier.startsWith('.'))
      .map(({ specifier }) => [file.replace(DIST, ''), specifier]),
  )
  expect(packages).toEqual([
    ['text/chat-template/chat-template.js', '@huggingface/jinja'],
    ['text/tokenizer/text-splitting.js', '@huggingface/tokenizers'],
  ])
})

it('holds the worker and the kernels, but no other host and no command line', () => {
  const files = [...modules.keys()].map((file) => file.replace(DIST, ''))
  expect(files).toContain('backend/wasm/compute-worker.js')
  expect(files).toContain('backend/wasm/generated/relaxed-kernels.js')
  expect(files).toContain('backend/wasm/generated/baseline-kernels.js')
  expect(files.filter((file) => /^(host\/node|cli|hub|eval|server)\//.test(file))).toEqual([])
})
