import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { dataFolder } from './data-folder.ts'

it.each([
  ['linux', {}, '/home/a/.local/share/onsight'],
  ['linux', { XDG_DATA_HOME: '/data' }, '/data/onsight'],
  ['linux', { XDG_DATA_HOME: 'data' }, '/home/a/.local/share/onsight'],
  ['darwin', { XDG_DATA_HOME: '/data' }, '/home/a/Library/Application Support/onsight'],
  ['win32', { LOCALAPPDATA: 'D:\\Local' }, 'D:\\Local\\onsight'],
  ['win32', {}, '\\home\\a\\AppData\\Local\\onsight'],
] as const)('%s with %j', (platform, env, expected) => {
  expect(dataFolder(env, platform, '/home/a')).toBe(expected)
})

it.each(['linux', 'darwin', 'win32'] as const)('ONSIGHT_HOME comes first on %s', (platform) => {
  expect(dataFolder({ ONSIGHT_HOME: 'here' }, platform, '/home/a')).toBe(resolve('here'))
})
