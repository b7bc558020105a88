/** `onsight bench`: speed and memory of a model on this machine. */
import type { KvName, MemoryPlan, PrecisionName } from '../engine/types.ts'
import type { BenchReport } from '../entry/bench.node.ts'
import { EngineError } from '../shared/errors.ts'
import { flatten, loadReport, type Ratios, ratiosOf } from './bench-comparison.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { untilAborted } from './interrupts.ts'
import { linesOfPlan } from './memory-table.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { failureOf, TINY } from './with-model.ts'

export interface BenchOptions extends TerminalOptions {
  readonly shape?: string
  readonly precision?: PrecisionName
  readonly kv?: KvName
  readonly threads?: number
  readonly memoryLimit?: number
  readonly repeat: number
  readonly compare?: string
  readonly json?: boolean
}

export async function runBench(
  reference: string | undefined,
  options: BenchOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { shape, precision, kv, threads, memoryLimit, repeat } = options
  if ((reference === undefined) === (shape === undefined)) {
    throw new EngineError('option/model', {
      message: `bench: expected either a model or --shape, found ${shape === undefined ? 'neither' : 'both'}.`,
      hint: 'onsight bench ./SmolVLM-500M-Instruct, or onsight bench --shape smolvlm-500m',
    })
  }
  const terminal = new Terminal(context, options)
  try {
    // Before minutes of work.
    const earlier = options.compare === undefined ? undefined : await loadReport(options.compare)
    const [measure, { bundledModelPath }] = await Promise.all([context.loadBench(), context.loadEngine()])
    const subject =
      shape !== undefined ? { shape } : reference === TINY ? bundledModelPath() : String(reference)
    const { signal } = context.interrupts
    if (terminal.showsProgress) terminal.note(terminal.messages.measuring)
    const running = measure(subject, {
      ...(precision !== undefined && { precision }),
      ...(kv !== undefined && { kv }),
      ...(threads !== undefined && { threads }),
      ...(memoryLimit !== undefined && {
        memoryLimit,
        onMemoryPlan(plan: MemoryPlan) {
          for (const line of linesOfPlan(plan, terminal.messages)) terminal.note(line)
        },
      }),
      repeat,
      signal,
    })
    const report = await untilAborted(running, signal)
    const ratios = earlier && ratiosOf(report, earlier)
    if (options.json) terminal.json(ratios ? { ...report, ratios } : report)
    else terminal.answer(`${tableOf(report, ratios).join('\n')}\n`)
    return EXIT.done
  } catch (error) {
    return failureOf(context, terminal, error, 'loading')
  }
}

/** Numbers aligned at the right, with their ratios to earlier ones, then the machine. */
function tableOf(report: BenchReport, ratios: Ratios = {}): string[] {
  const rows = Object.entries(flatten(report)).map(([name, value]) => {
    const ratio = ratios[name]
    return [
      spell(name),
      value.toFixed(value < 10 ? 2 : 1),
      ratio === undefined ? '' : `  ${ratio.toFixed(2)}x`,
    ] as const
  })
  const environment = Object.entries(report.environment)
  const nameWidth = Math.max(...[...rows, ...environment].map(([name]) => spell(name).length))
  const valueWidth = Math.max(...rows.map(([, value]) => value.length))
  return [
    ...rows.map(([name, value, ratio]) => `${name.padEnd(nameWidth)}  ${value.padStart(valueWidth)}${ratio}`),
    ...environment.map(([name, value]) => `${spell(name).padEnd(nameWidth)}  ${value}`),
  ]
}

/** `decodeTokensPerSecond512` → `decode tokens per second at 512` */
function spell(name: string): string {
  return name
    .replace(/(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .replace(/ (\d+)$/, ' at $1')
}
