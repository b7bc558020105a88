/** What a person may call a model: a name of the catalogue, an id of the hub, an address. */
import { EngineError } from '../shared/errors.ts'
import { parseUrl } from '../shared/parse-url.ts'
import { CATALOGUE } from './catalogue.ts'
import { baseNameOf, isSafeFileName, isSafePath } from './file-names.ts'

export interface RepositoryReference {
  readonly kind: 'repository'
  /** `owner/name` */
  readonly id: string
  /** Branch, tag or commit; undefined means the newest. */
  readonly revision: string | undefined
  /** Name or path of the weights; undefined leaves the choice to us. */
  readonly file: string | undefined
}

export interface FileReference {
  readonly kind: 'url'
  /** What is asked for, query included. */
  readonly address: string
  /** What may be shown and kept: queries hold signatures. */
  readonly shownAddress: string
  /** `host/file` */
  readonly id: string
}

export type ModelReference = RepositoryReference | FileReference

const HUB_HOSTS: ReadonlySet<string> = new Set(['huggingface.co', 'www.huggingface.co', 'hf.co'])
const WEIGHTS = /\.(gguf|safetensors)$/
const MAX_MADE_NAME = 64
const PART = '[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?'
const REPOSITORY = new RegExp(`^(${PART}/${PART})(?:@(.+))?$`)
const WITH_FILE = /^([^/]+\/.+?)\/([^/]+\.(?:gguf|safetensors))$/

/** Owner of models that were imported from files: no account of the hub has this name for us. */
export const LOCAL_OWNER = 'local'

/**
 * The name of an imported model.
 *
 * @param fallback From which a name is made when none is given.
 * @throws EngineError `option/invalid`.
 */
export function localName(name: string | undefined, fallback: string): string {
  const made = fallback.replace(/[^A-Za-z0-9._]+/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
  const chosen = name ?? (made.replace(/\.\.+/g, '.').slice(0, MAX_MADE_NAME) || 'model')
  if (new RegExp(`^${PART}$`).test(chosen) && isRepositoryId(`${LOCAL_OWNER}/${chosen}`)) return chosen
  throw new EngineError('option/invalid', {
    message: `The option "name" must be at most 96 letters, digits, ".", "_" and "-", and not end like a file; found ${JSON.stringify(chosen)}.`,
    hint: 'For example "my-model".',
    field: 'name',
  })
}

/**
 * Understands `smolvlm-500m`, `owner/name`, `owner/name@revision`, `owner/name/file.gguf`, addresses of the hub's
 * pages and files, and any other http address of a `.gguf` or `.safetensors` file.
 *
 * @param endpoint The hub or mirror in use; its addresses are understood like the hub's own.
 * @returns undefined when the text is none of these, for example a path.
 * @throws EngineError `hub/bad-address` for an address that cannot be fetched.
 */
export function parseReference(text: string, endpoint: string): ModelReference | undefined {
  if (/^https?:\/\//i.test(text)) return parseAddress(text, endpoint)
  const [name = '', ...revision] = text.split('@')
  const entry = CATALOGUE.find((entry) => entry.name === name.toLowerCase())
  if (entry)
    return repository(entry.repository, revision.length > 0 ? revision.join('@') : undefined, undefined)
  const [, whole = text, file] = WITH_FILE.exec(text) ?? []
  const [, id, revisionText] = REPOSITORY.exec(whole) ?? []
  return id !== undefined && isRepositoryId(id) ? repository(id, revisionText, file) : undefined
}

function repository(
  id: string,
  revision: string | undefined,
  file: string | undefined,
): RepositoryReference | undefined {
  const isUsable = revision === undefined || (/^[\w./+-]{1,200}$/.test(revision) && !revision.includes('..'))
  return isUsable ? { kind: 'repository', id, revision, file } : undefined
}

/** The hub itself refuses two dashes or two dots in a row. What ends like a file is one. */
function isRepositoryId(id: string): boolean {
  return !/--|\.\./.test(id) && !WEIGHTS.test(id) && id.split('/').every(isSafeFileName)
}

function parseAddress(text: string, endpoint: string): ModelReference {
  const url = parseUrl(text)
  if (url === undefined || url.username !== '' || url.password !== '') {
    throw new EngineError('hub/bad-address', {
      message: url
        ? `The address at ${url.host} contains a user name or password.`
        : `${text} is no address.`,
      hint: 'Expected https://host/path/model.gguf, without credentials.',
    })
  }
  const names = url.pathname
    .split('/')
    .filter((name) => name !== '')
    .map(decode)
  if (HUB_HOSTS.has(url.host) || url.origin === new URL(endpoint).origin) {
    const found = parseHubPath(names)
    if (found) return found
  }
  const fileName = names.at(-1) ?? ''
  if (!WEIGHTS.test(fileName) || !isSafeFileName(fileName)) {
    throw new EngineError('hub/bad-address', {
      message: `${showAddress(url)}: expected the address of a .gguf or .safetensors file, found ${JSON.stringify(fileName)}.`,
      hint: 'Give the address of the file itself, or the id of a repository of the hub such as owner/name.',
    })
  }
  return {
    kind: 'url',
    address: url.href,
    shownAddress: showAddress(url),
    id: `${url.host.replace(/[^a-z0-9.-]/gi, '_')}/${fileName}`,
  }
}

/** `owner/name`, `owner/name/tree/main`, `owner/name/blob/main/file.gguf`, `owner/name/resolve/main/file.gguf` */
function parseHubPath([owner = '', name = '', verb, revision, ...path]: readonly string[]):
  | RepositoryReference
  | undefined {
  const id = `${owner}/${name}`
  if (!REPOSITORY.test(id) || !isRepositoryId(id)) return undefined
  if (verb === undefined) return repository(id, undefined, undefined)
  if (!['tree', 'blob', 'resolve'].includes(verb) || revision === undefined) return undefined
  const file = path.join('/')
  if (path.length > 0 && !isSafePath(file)) return undefined
  return repository(id, revision, WEIGHTS.test(file) ? file : undefined)
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Without what may be secret. */
export function showAddress(address: string | URL): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/** Whether `file` of a reference means this path: by whole path or by name. */
export function isSameFile(path: string, file: string): boolean {
  return path === file || baseNameOf(path) === file
}
