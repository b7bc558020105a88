/** The model of this page. */
import { engine } from '../engine/app-engine.ts'
import { createEngineOwnership, createUnguardedOwnership } from '../engine/engine-ownership.ts'
import { settings } from '../settings/settings.ts'
import { createModelService } from './create-model-service.ts'
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
  loadOptions: async () => {
    const { fitDevice, readDeviceFacts } = await import('onsight/hub')
    const { storageQuotaBytes: _, ...device } = await readDeviceFacts()
    // Of nothing: what there is for a model.
    const { availableBytes } = fitDevice({ approximateBytes: 0 }, device)
    return availableBytes === undefined ? {} : { memoryLimit: availableBytes }
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
