/** The one engine of this page. */

import { hubAddress } from '../models/hub-address.ts'
import { createEngineClient } from './engine-client.ts'
import { startWorkerLink } from './worker-link.ts'

export const engine = createEngineClient({
  startWorker: startWorkerLink,
  locate(place) {
    if (typeof place !== 'string') return { files: place }
    const name = place.slice(place.indexOf(':') + 1)
    if (place.startsWith('stored:')) return { stored: name, hub: hubAddress() }
    return { address: new URL(`models/${name}`, document.baseURI).href }
  },
  clock: {
    every(ms, tick) {
      const timer = setInterval(tick, ms)
      return () => clearInterval(timer)
    },
  },
})
