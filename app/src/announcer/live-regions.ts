/**
 * The two live regions of the page. They are made when the page loads, since screen readers watch only regions that were
 * there before their text.
 */
import { settings } from '../settings/settings.ts'
import { t } from '../texts/texts.ts'
import { pageClock } from './clock.ts'
import { createAnnouncer } from './create-announcer.ts'
import type { RegionText } from './region-queue.ts'
import './live-regions.css'

const regions = { polite: createRegion('polite'), assertive: createRegion('assertive') }

function createRegion(priority: RegionText['priority']): HTMLElement {
  const region = document.createElement('div')
  region.className = 'announcer-region'
  region.setAttribute('role', priority === 'polite' ? 'status' : 'alert')
  region.setAttribute('aria-live', priority)
  region.setAttribute('aria-atomic', 'true')
  document.body.append(region)
  return region
}

function write({ text, priority, language }: RegionText): void {
  const region = regions[priority]
  if (language === undefined) region.removeAttribute('lang')
  else region.lang = language
  // The same text again is no change, and would not be read.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text
}

/** What screen readers are told. */
export const announcer = createAnnouncer({
  clock: pageClock,
  write,
  clear() {
    for (const region of Object.values(regions)) region.textContent = ''
  },
  words: () => ({
    answering: t('announce.answering'),
    done: t('announce.done'),
    stopped: t('announce.stopped'),
    failed: t('announce.failed'),
    empty: t('announce.empty'),
  }),
  style: () => (settings.announcing.value === 'ends' ? 'ends' : 'sentences'),
})
