/** `describe --route`: who answers, this machine or an endpoint that the person named. */
import { createInterface } from 'node:readline/promises'
import { type Command, Option } from 'commander'
import type { AnsweringModel } from '../assistant/answering-model.ts'
import type { ConsentRequest, LocalRoute, RouteChoice } from '../assistant/routed-model.ts'
import { EngineError } from '../shared/errors.ts'
import type { CommandContext } from './context.ts'
import { someText } from './option-values.ts'
import type { Terminal } from './terminal.ts'

export interface RouteFlags {
  readonly route?: RouteChoice
  readonly remoteUrl?: string
  readonly remoteModel?: string
  readonly allowRemote?: boolean
}

const ROUTES: readonly RouteChoice[] = ['local', 'remote', 'auto']

export function addRouteOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--route <who>',
        'who answers: local, remote, or auto (remote only where local cannot, and after asking)',
      )
        .choices(ROUTES)
        .default('local'),
    )
    .option(
      '--remote-url <url>',
      'OpenAI-compatible endpoint (or ONSIGHT_REMOTE_URL); its key: ONSIGHT_REMOTE_KEY',
      someText,
    )
    .option('--remote-model <name>', 'model there (or ONSIGHT_REMOTE_MODEL)', someText)
    .option('--allow-remote', 'with auto: send without asking')
}

/** @param local Undefined where nothing is loaded. */
export async function openRoute(
  choice: RouteChoice,
  flags: RouteFlags,
  local: LocalRoute | undefined,
  context: CommandContext,
  terminal: Terminal,
): Promise<AnsweringModel> {
  const { connectRemote, createRoutedModel } = await import('../entry/assistant.node.ts')
  const { env } = context
  const url = flags.remoteUrl ?? env['ONSIGHT_REMOTE_URL']
  const model = flags.remoteModel ?? env['ONSIGHT_REMOTE_MODEL']
  const apiKey = env['ONSIGHT_REMOTE_KEY']
  if (!url || !model) {
    throw new EngineError('option/remote', {
      message: `--route ${choice} needs an endpoint and a model there; found ${url ? 'no model' : 'no endpoint'}.`,
      hint: 'Give --remote-url and --remote-model, or set ONSIGHT_REMOTE_URL and ONSIGHT_REMOTE_MODEL.',
    })
  }
  return createRoutedModel({
    choice,
    remote: connectRemote({ url, model, ...(apiKey && { apiKey }) }),
    ...(local && { local }),
    consent: (request) => flags.allowRemote ?? askConsent(request, context, terminal),
  })
}

/** Without a terminal nobody can agree. */
async function askConsent(
  { host, model, pictures }: ConsentRequest,
  { stdin, stderr, interrupts }: CommandContext,
  { messages }: Terminal,
): Promise<boolean> {
  if (stdin.isTTY !== true) return false
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const answer = await lines.question(messages.mayWeSend(host, model, pictures), {
      signal: interrupts.signal,
    })
    return /^(?:y|yes|是|好)$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
