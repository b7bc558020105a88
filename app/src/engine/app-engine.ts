/** The one engine of this page. */
import { createEngineClient } from './engine-client.ts'
import { startWorkerLink } from './worker-link.ts'

export const engine = createEngineClient({
  startWorker: startWorkerLink,
  locate(place) {
    if (typeof place !== 'string') return { files: place }
    const name = place.slice(place.indexOf(':') + 1)
    return { address: new URL(`models/${name}`, document.baseURI).href }
  },
  clock: {
    every(ms, tick) {
      const timer = setInterval(tick, ms)
      return () => clearInterval(timer)
    },
  },
})
