import { expect, it } from 'vitest'
import { scanExports } from './scan-exports.mjs'

it('lists every exported name', () => {
  const source = [
    "export { a, b as c, type D } from './a.js'",
    'export type { E } from "./e.js"',
    'export declare function f(): void',
    'export async function g() {}',
    'export declare class H {}',
    'export interface I { readonly export: string }',
    'export const j = 1, text = "export { k }"',
    '// export { l }',
    'export {}',
  ].join('\n')
  expect(scanExports(source)).toEqual(['D', 'E', 'H', 'I', 'a', 'c', 'f', 'g', 'j'])
})

it('refuses to export everything', () => {
  expect(() => scanExports("export * from './a.js'")).toThrow(
    '"export *" hides what is public; list the names',
  )
  expect(scanExports("export * as all from './a.js'")).toEqual([])
})
