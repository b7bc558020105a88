import { expect, it } from 'vitest'
import { CATALOGUE } from './catalogue.ts'
import { parseReference } from './reference.ts'

it('names are unique, and repositories are ones', () => {
  const names = CATALOGUE.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, repository, format } of CATALOGUE) {
    expect(name).toMatch(/^[a-z0-9.-]+$/)
    expect(parseReference(repository, 'https://huggingface.co')).toMatchObject({
      kind: 'repository',
      id: repository,
    })
    expect([name.endsWith('-gguf'), repository.endsWith('-GGUF')]).toEqual(Array(2).fill(format === 'gguf'))
  }
})

it('every folder model that sees has a quantised pair', () => {
  const [folders, pairs] = (['safetensors', 'gguf'] as const).map((format) =>
    CATALOGUE.filter((entry) => entry.task === undefined && entry.format === format).map(({ name }) =>
      name.replace(/-gguf$/, ''),
    ),
  )
  expect(pairs).toEqual(folders)
})
