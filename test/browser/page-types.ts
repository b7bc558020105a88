/** What fixture/main.js hangs on the page, and what the tests keep there. */

import type { Model } from '../../src/engine/types.ts'
import type { EngineError, loadModel, readSnapshotText } from '../../src/entry/index.browser.ts'

declare global {
  var onsight: {
    readonly loadModel: typeof loadModel
    readonly EngineError: typeof EngineError
    readonly readSnapshotText: typeof readSnapshotText
    startModelWorker(): Worker
  }
  var model: Model
}
