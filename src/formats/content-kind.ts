/** Says what a file really is when it is not the model file that its name promises. */
import { EngineError } from '../shared/errors.ts'

/** How many leading bytes `detectContentKind` looks at. */
export const CONTENT_KIND_BYTES = 512

export type ContentKind =
  | 'empty'
  | 'gguf'
  | 'old-ggml'
  | 'safetensors'
  | 'html'
  | 'lfs-pointer'
  | 'zip'
  | 'pickle'
  | 'gzip'
  | 'json'
  | 'text'
  | 'unknown'

const DESCRIPTIONS: Record<ContentKind, { is: string; hint: string }> = {
  empty: { is: 'the file is empty', hint: 'The download did not start or failed; fetch the file again.' },
  gguf: { is: 'found a GGUF file', hint: 'Give the file a name that ends in .gguf.' },
  'old-ggml': {
    is: 'found a GGML file from before GGUF',
    hint: 'Take a GGUF file of this model instead; the old format is not readable.',
  },
  safetensors: {
    is: 'found a safetensors file',
    hint: 'Name the folder that holds it together with its config.json.',
  },
  html: {
    is: 'found an HTML page',
    hint: 'The download saved a web page (often a login or error page); use the direct download link.',
  },
  'lfs-pointer': {
    is: 'found a Git LFS pointer, not the file itself',
    hint: 'Run "git lfs pull" in the repository, or download the file directly.',
  },
  zip: {
    is: 'found a ZIP archive, probably a PyTorch checkpoint',
    hint: 'Use the safetensors files of the same model; PyTorch checkpoints can run code and are not read.',
  },
  pickle: {
    is: 'found a Python pickle, probably an old PyTorch checkpoint',
    hint: 'Use the safetensors files of the same model; pickles can run code and are not read.',
  },
  gzip: { is: 'found a gzip archive', hint: 'Unpack it first.' },
  json: { is: 'found a JSON text', hint: 'Name the weight file or the whole model folder.' },
  text: { is: 'found a text file', hint: 'Name the weight file or the whole model folder.' },
  unknown: { is: 'found bytes of no known format', hint: 'The file is damaged; fetch it again.' },
}

/** Judges by the first bytes of a file (`CONTENT_KIND_BYTES` are enough, fewer only if the file is shorter). */
export function detectContentKind(head: Uint8Array): ContentKind {
  if (head.length === 0) return 'empty'
  const [first = 0, second = 0] = head
  const text = String.fromCharCode(...head.subarray(0, CONTENT_KIND_BYTES))
  if (text.startsWith('GGUF')) return 'gguf'
  if (OLD_GGML_MAGICS.has(text.slice(0, 4))) return 'old-ggml'
  if (text.startsWith('version https://git-lfs')) return 'lfs-pointer'
  if (text.startsWith('PK\x03\x04')) return 'zip'
  if (first === 0x80 && second >= 2 && second <= 5) return 'pickle'
  if (first === 0x1f && second === 0x8b) return 'gzip'
  // Eight bytes of header length, whose upper part is zero in any real file, then a JSON object.
  if (text.slice(5, 9) === '\0\0\0{') return 'safetensors'
  const trimmed = text.replace(/^\xef\xbb\xbf/, '').trimStart()
  if (/^<(!doctype|html|head|\?xml|!--)/i.test(trimmed)) return 'html'
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return 'json'
  return head.subarray(0, CONTENT_KIND_BYTES).every(isTextByte) ? 'text' : 'unknown'
}

// The magic is a little-endian number, so the letters stand in reverse.
const OLD_GGML_MAGICS: ReadonlySet<string> = new Set(['lmgg', 'fmgg', 'tjgg', 'algg'])

function isTextByte(byte: number): boolean {
  const isLineOrTab = byte === 9 || byte === 10 || byte === 13
  return isLineOrTab || (byte >= 32 && byte !== 127)
}

/** The error for a file whose content is of another kind than `expected` ("a GGUF file"). */
export function createWrongKindError(fileName: string, expected: string, head: Uint8Array): EngineError {
  const { is, hint } = DESCRIPTIONS[detectContentKind(head)]
  return new EngineError('format/wrong-kind', { message: `${fileName}: expected ${expected}, ${is}.`, hint })
}
