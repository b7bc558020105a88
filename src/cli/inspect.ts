/** `onsight inspect`: facts about a model, then findings, errors first. */
import type { InspectModelOptions } from '../entry/inspect.node.ts'
import type { ModelReport } from '../inspect/describe-model.ts'
import type { Finding } from '../inspect/finding.ts'
import type { Inspection } from '../inspect/inspect-model.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { type InspectMessages, inspectMessagesFor } from './inspect-messages.ts'
import { untilAborted } from './interrupts.ts'
import { formatBytes } from './quantities.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { failureOf, TINY } from './with-model.ts'

export interface InspectCommandOptions extends TerminalOptions {
  readonly mmproj?: string
  readonly context?: number
  readonly deep?: boolean
  /** False after --no-weights. */
  readonly weights?: boolean
  readonly json?: boolean
}

export async function runInspect(
  reference: string,
  { mmproj, context: contextLength, deep, weights, json, ...options }: InspectCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = inspectMessagesFor(context.env)
  try {
    const { inspectModel } = await import('../entry/inspect.node.ts')
    const path = reference === TINY ? (await context.loadEngine()).bundledModelPath() : reference
    const { signal } = context.interrupts
    const request: InspectModelOptions = {
      ...(mmproj !== undefined && { projector: mmproj }),
      ...(contextLength !== undefined && { contextLength }),
      ...(deep !== undefined && { deep }),
      ...(weights !== undefined && { weights }),
      env: context.env,
      signal,
      onProgress: (done, total) => terminal.progress.show(messages.looking, done, total),
    }
    const inspection = await untilAborted(inspectModel(path, request), signal)
    terminal.progress.clear()
    if (json) terminal.json(inspection)
    else terminal.answer(`${describe(inspection, messages).join('\n')}\n`)
    return inspection.ok ? EXIT.done : EXIT.failed
  } catch (error) {
    return failureOf(context, terminal, error, 'loading')
  }
}

function describe({ model, findings }: Inspection, messages: InspectMessages): string[] {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length
  return [
    `${model.name}: ${model.architecture ?? messages.unknown}, ${model.container}`,
    '',
    ...describeFacts(model, messages),
    '',
    ...findings.flatMap(({ severity, code, message, hint }) => [
      `${messages.severities[severity]} ${code}`,
      `  ${message}`,
      `  → ${hint}`,
      '',
    ]),
    messages.verdict(count('error'), count('warning')),
  ]
}

function describeFacts(model: ModelReport, messages: InspectMessages): string[] {
  const { parameters, types, decoder, pictures, memory, read } = model
  const { total, ...parts } = parameters
  const named = Object.entries(parts).filter(([, count]) => count > 0)
  const rows: [string, string][] = [
    [messages.parameters, formatCount(total)],
    ...named.map(([part, count]): [string, string] => [`  ${part}`, formatCount(count)]),
    [
      messages.types,
      types.map(({ type, tensors, bytes }) => `${type} ${formatBytes(bytes)} (${tensors})`).join(', '),
    ],
  ]
  if (decoder) {
    const { layers, width, heads, keyValueHeads, vocabulary, contextLength } = decoder
    rows.push([
      messages.decoder,
      messages.decoderShape(layers, width, heads, keyValueHeads, vocabulary, contextLength),
    ])
  }
  if (pictures) {
    const { frameSize, tokensPerFrame, maxFrames, maxTokens } = pictures
    rows.push([messages.pictures, messages.pictureShape(frameSize, tokensPerFrame, maxFrames, maxTokens)])
  }
  if (memory) {
    const { weightBytes, cacheBytes, totalBytes, contextLength } = memory
    rows.push([
      messages.memory,
      messages.memoryShape(
        formatBytes(totalBytes),
        formatBytes(weightBytes),
        formatBytes(cacheBytes),
        contextLength,
      ),
    ])
  }
  rows.push(
    [messages.template, model.chatTemplate ?? messages.none],
    [messages.licence, model.licence ?? messages.notStated],
    [messages.languages, model.languages.join(', ') || messages.notStated],
    [messages.read, messages.readOf(formatBytes(read.bytes), formatBytes(read.ofBytes))],
  )
  const width = Math.max(...rows.map(([label]) => widthOf(label)))
  return rows.map(([label, value]) => `${label}${' '.repeat(width - widthOf(label))}  ${value}`)
}

/** `134.5M` */
function formatCount(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)}B`
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)}M`
  return count >= 1e3 ? `${(count / 1e3).toFixed(1)}k` : String(count)
}

/** Chinese characters take two columns. */
function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (character > '\u2e80' ? 2 : 1), 0)
}
