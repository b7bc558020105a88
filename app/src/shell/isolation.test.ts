import { describe, expect, it } from 'vitest'
import { type IsolationFacts, judgeIsolation } from './isolation.ts'

const firstVisit: IsolationFacts = {
  isIsolated: false,
  isSecure: true,
  cores: 8,
  isControlled: true,
  wasInstalled: false,
  hasReloaded: false,
}

describe('judgeIsolation', () => {
  it.each<[string, Partial<IsolationFacts>, ReturnType<typeof judgeIsolation>]>([
    ['the host sends the headers', { isIsolated: true, isControlled: false }, 'isolated'],
    ['a first visit', {}, 'reload'],
    ['still without after the reload', { hasReloaded: true }, 'refused'],
    ['a forced reload', { isControlled: false, wasInstalled: true }, 'reload'],
    ['two forced reloads', { isControlled: false, wasInstalled: true, hasReloaded: true }, 'forced-reload'],
    ['a private window without service workers', { isControlled: false }, 'no-service-worker'],
    ['the same, reloaded', { isControlled: false, hasReloaded: true }, 'no-service-worker'],
    ['a machine where the engine takes one thread', { cores: 2 }, 'few-cores'],
    ['an address of the local network over http', { isSecure: false }, 'insecure'],
  ])('%s', (_title, facts, expected) => {
    expect(judgeIsolation({ ...firstVisit, ...facts })).toBe(expected)
  })

  it('never says reload twice in a row', () => {
    for (const isControlled of [true, false])
      for (const wasInstalled of [true, false])
        expect(judgeIsolation({ ...firstVisit, isControlled, wasInstalled, hasReloaded: true })).not.toBe(
          'reload',
        )
  })
})
