import { describe, expect, it } from 'vitest'
import { scanImports } from './scan-imports.mjs'

/** @param {string} source */
const found = (source) =>
  scanImports(source).map(({ kind, specifier, line }) => `${line} ${kind} ${specifier}`)

describe('scanImports', () => {
  it('finds every form of a static import', () => {
    const source = [
      "import './a.ts'",
      "import b from './b.ts'",
      "import { c, type C } from './c.ts'",
      "import * as d from './d.ts'",
      "import e, { f } from './e.ts'",
      'import {',
      '  g,',
      "} from './g.ts'",
      "import data from './h.json' with { type: 'json' }",
      "export { i } from './i.ts'",
      "export * from './j.ts'",
      "export * as k from './k.ts'",
      "import type from './l.ts'",
    ].join('\n')
    expect(found(source)).toEqual([
      '1 static ./a.ts',
      '2 static ./b.ts',
      '3 static ./c.ts',
      '4 static ./d.ts',
      '5 static ./e.ts',
      '6 static ./g.ts',
      '9 static ./h.json',
      '10 static ./i.ts',
      '11 static ./j.ts',
      '12 static ./k.ts',
      '13 static ./l.ts',
    ])
  })

  it('knows what vanishes at run time', () => {
    const source = [
      "import type { A } from './a.ts'",
      "import type B from './b.ts'",
      "import type * as c from './c.ts'",
      "export type { D } from './d.ts'",
      "let e: typeof import('./e.ts')",
      "let f: import('./f.ts').F",
    ].join('\n')
    expect(found(source)).toEqual([
      '1 type ./a.ts',
      '2 type ./b.ts',
      '3 type ./c.ts',
      '4 type ./d.ts',
      '5 type ./e.ts',
      '6 type ./f.ts',
    ])
  })

  it('finds dynamic imports and worker files', () => {
    const source = [
      "const { a } = await import('./a.ts')",
      "import('./b.ts').then(use)",
      `const text = \`\${(await import('./c.ts')).name} \${{ d: 1 }.d}\``,
      "new Worker(new URL('./e.js', import.meta.url))",
    ].join('\n')
    expect(found(source)).toEqual([
      '1 dynamic ./a.ts',
      '2 dynamic ./b.ts',
      '3 dynamic ./c.ts',
      '4 file ./e.js',
    ])
  })

  it('is not misled by comments, strings, templates and regular expressions', () => {
    const source = [
      "// import './a.ts'",
      "/* import './b.ts'",
      "   export * from './c.ts' */",
      'const text = "import \'./d.ts\'"',
      `const code = \`import './e.ts' \${\`import './f.ts'\`}\``,
      'const quote = /[\'"/]/.test(text) || text.split(/`/)',
      "const half = total / 2 // '",
      "export const name = './g.ts'",
      "export type Kind = 'a' | 'b'",
      "host.import('./h.ts')",
      "import './i.ts'",
    ].join('\n')
    expect(found(source)).toEqual(['11 static ./i.ts'])
  })
})
