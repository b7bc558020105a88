import { expect, it } from 'vitest'
import { deviceMemoryLimit } from './device-memory.ts'

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 Version/26.0 Safari/604.1'
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/26.0 Safari/605.1.15'

it.each([
  ['Chromium with 8 GiB', { userAgent: LINUX, deviceMemory: 8 }, 4 * 2 ** 30],
  ['a browser that does not tell', { userAgent: MAC, platform: 'MacIntel', maxTouchPoints: 0 }, undefined],
  ['an iPhone', { userAgent: IPHONE, platform: 'iPhone', maxTouchPoints: 5 }, 1e9],
  ['an iPad that calls itself a Mac', { userAgent: MAC, platform: 'MacIntel', maxTouchPoints: 5 }, 1e9],
])('%s', (_name, device, expected) => {
  expect(deviceMemoryLimit(device)).toBe(expected)
})
