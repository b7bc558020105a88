/** The model of this page. */
import { engine } from '../engine/app-engine.ts'
import { createEngineOwnership, createUnguardedOwnership } from '../engine/engine-ownership.ts'
import { settings } from '../settings/settings.ts'
import { createModelService } from './create-model-service.ts'
import { deviceMemoryLimit } from './device-memory.ts'
import { createLoadMarks } from './load-marks.ts'

const ownership =
  navigator.locks && 'BroadcastChannel' in globalThis
    ? createEngineOwnership({
        locks: navigator.locks,
        channel: new BroadcastChannel('onsight.engine'),
        patienceMs: 3000,
      })
    : createUnguardedOwnership()

export const currentModel = createModelService({
  engine,
  chosen: settings.model,
  ownership,
  marks: createLoadMarks(() => localStorage),
  loadOptions: () => {
    const memoryLimit = deviceMemoryLimit(navigator)
    return memoryLimit === undefined ? {} : { memoryLimit }
  },
  now: () => performance.now(),
})

/** Set while the page lies in the browser's back/forward cache: there it must hold neither locks nor memory. */
let isAside = false

addEventListener('pagehide', () => {
  isAside = true
  currentModel.release()
})
addEventListener('pageshow', () => {
  if (isAside) currentModel.reload()
  isAside = false
})
