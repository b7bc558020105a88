/** The hub's ports and settings in Node. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { HubPorts, HubSettings } from '../../hub/ports.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Environment } from './data-folder.ts'

export function createNodeHubPorts(): HubPorts {
  return {
    fetch: (url, init) => fetch(url, init),
    createHash(name) {
      const hash = createHash(name)
      return { update: (bytes) => void hash.update(bytes), digestHex: () => hash.digest('hex') }
    },
    clock: {
      now: () => Date.now(),
      sleep: (ms, signal) => setTimeout(ms, undefined, signal && { signal }),
      random: () => Math.random(),
    },
  }
}

/** As the Hugging Face tools have them: `HF_ENDPOINT`, and `HF_TOKEN` or the file that logging in has left. */
export async function loadHubSettings(
  defaultEndpoint: string,
  env: Environment = process.env,
): Promise<HubSettings> {
  const endpoint = parseEndpoint(env['HF_ENDPOINT'] || defaultEndpoint)
  const token = env['HF_TOKEN']?.trim() || (await readTokenFile(env))
  return token ? { endpoint, token: checkToken(token) } : { endpoint }
}

function parseEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') {
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  }
  throw new EngineError('hub/bad-endpoint', {
    message: 'HF_ENDPOINT: expected an address such as https://huggingface.co, without user and password.',
    hint: 'Correct the variable or leave it out.',
  })
}

/** A header takes no line breaks; what else is in a token is not ours to judge, nor to print. */
function checkToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new EngineError('hub/bad-token', {
    message: 'HF_TOKEN: expected letters and digits without spaces, found other characters.',
    hint: 'Copy the token again, whole and without quotation marks.',
  })
}

async function readTokenFile(env: Environment): Promise<string | undefined> {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const home = env['HF_HOME'] || join(cache, 'huggingface')
  const path = env['HF_TOKEN_PATH'] || join(home, 'token')
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
}
