/** Which screen is shown: the part of the address after `#/`, so that back and forward work on any host. */
import { signal } from '@preact/signals'

export const SCREENS = ['ask', 'live', 'history', 'models', 'settings'] as const
export type Screen = (typeof SCREENS)[number]

const fromAddress = (): Screen => {
  const name = location.hash.replace(/^#\/?/, '').split('?')[0]
  return SCREENS.find((screen) => screen === name) ?? 'ask'
}

export const screen = signal<Screen>(fromAddress())

addEventListener('hashchange', () => {
  screen.value = fromAddress()
})
