/** Converting and evaluating models in Node. */
import { type ConvertOptions, type ConvertReport, convertModelOn } from '../engine/convert-model.ts'
import { type EvalOptions, type EvalReport, runEval } from '../eval/run-eval.ts'
import { createPendingFileHost } from '../host/node/pending-file.ts'
import { createScratchFolder } from '../host/node/scratch-folder.ts'
import { createEngineHost } from './engine-host.node.ts'

function createHost() {
  return {
    ...createEngineHost(),
    output: createPendingFileHost(),
    createScratch: createScratchFolder,
  }
}

/** Writes a model, a folder or a `.gguf` file, to a `.gguf` file and, when it sees, `mmproj-` beside it. */
export function convertModel(
  source: string,
  target: string,
  options: ConvertOptions,
): Promise<ConvertReport> {
  return convertModelOn(createHost(), source, target, options)
}

/** Measures variants of a model on a set of questions. */
export function evaluateModel(reference: string, options: EvalOptions): Promise<EvalReport> {
  return runEval(createHost(), reference, options)
}
