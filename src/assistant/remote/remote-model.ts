/** A model behind an OpenAI-compatible endpoint, asked like one on the device. */
import type { ChatOptions } from '../../engine/types.ts'
import { EngineError } from '../../shared/errors.ts'
import type { AnsweringModel } from '../answering-model.ts'
import { remoteAddress } from './remote-address.ts'
import { RemoteConversation } from './remote-conversation.ts'
import type { EncodeRemotePicture } from './remote-picture.ts'

export interface RemoteOptions {
  /** Base of the API: `https://api.example.com/v1`, or on this machine `http://127.0.0.1:8321/v1`. */
  readonly url: string
  /** As the endpoint names it. */
  readonly model: string
  /** Sent as a bearer token, to this endpoint only. */
  readonly apiKey?: string
  /** Longest silence of the endpoint in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
}

export interface RemoteModel extends AnsweringModel {
  /** Host of the endpoint, for people to see. */
  readonly host: string
  readonly model: string
}

export interface RemotePorts {
  readonly fetch: typeof fetch
  readonly encodePicture: EncodeRemotePicture
}

const DEFAULT_TIMEOUT_MS = 60_000

/**
 * Nothing is sent before the first question.
 *
 * @throws EngineError `option/remote`.
 */
export function connectRemoteOn(ports: RemotePorts, options: RemoteOptions): RemoteModel {
  const { url, model, apiKey, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  requireText('url', url)
  requireText('model', model)
  // Anything else would not fit into a header line.
  if (apiKey !== undefined) requireText('apiKey', apiKey, /^[\x21-\x7e]+$/)
  if (!(timeoutMs > 0)) {
    throw new EngineError('option/remote', {
      message: `The option "timeoutMs" must be a number above 0; found ${timeoutMs}.`,
      field: 'timeoutMs',
    })
  }
  const address = remoteAddress(url, 'chat/completions')
  const endpoint = { ...ports, address, model, apiKey, timeoutMs }
  const chats = new Set<RemoteConversation>()
  let isDisposed = false
  return {
    host: address.host,
    model,
    chat(chatOptions: ChatOptions = {}) {
      if (isDisposed) {
        throw new EngineError('generation/disposed', {
          message: `The connection to ${address.host} was closed.`,
          hint: 'Connect again to go on.',
        })
      }
      const chat = new RemoteConversation(endpoint, chatOptions, () => chats.delete(chat))
      chats.add(chat)
      return chat
    },
    async dispose() {
      isDisposed = true
      for (const chat of chats) chat.dispose()
    },
  }
}

function requireText(name: string, value: unknown, pattern = /./): void {
  if (typeof value === 'string' && pattern.test(value)) return
  throw new EngineError('option/remote', {
    message: `The option "${name}" must be a text of at least one character${name === 'apiKey' ? ', without spaces' : ''}.`,
    field: name,
  })
}
