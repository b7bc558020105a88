// Who may import whom (docs/architecture.md says why). Paths are relative to src/; a row names folders or single files.
// A folder may always import from itself, except that drivers and hosts do not know each other.

const PURE = ['shared', 'quant', 'text', 'constraint', 'image', 'audio', 'formats']
const BACKEND_INTERFACE = ['backend/backend.ts', 'backend/ops.ts', 'backend/cache-rows.ts']
/** Rules about text that is said: pure, and of use wherever something speaks. */
const SPOKEN_TEXT = 'speech/text'
/** Products on top of the engine: they see its public types, never each other. */
const PRODUCTS = ['assistant', 'album', 'server', 'testing']
const ENGINE = [...PURE, 'convert', 'backend', 'models', 'generation', 'engine']

/** @type {Readonly<Record<string, readonly string[]>>} */
export const LAYERS = {
  shared: [],
  quant: ['shared'],
  text: ['shared'],
  constraint: ['shared'],
  image: ['shared'],
  audio: ['shared'],
  formats: ['shared', 'quant'],
  backend: ['shared', 'quant'],
  hub: ['shared', 'quant', 'formats'],
  convert: PURE,
  models: [...PURE, ...BACKEND_INTERFACE],
  generation: [...PURE, ...BACKEND_INTERFACE, 'models'],
  engine: ENGINE,
  eval: ENGINE,
  // Recognisers and voices with their composition roots: the engine beside which they stand knows nothing of them.
  speech: ENGINE,
  // What the engine reads of a model's files, without any driver.
  inspect: [
    ...PURE,
    ...BACKEND_INTERFACE,
    'models',
    'engine/find-projector.ts',
    'engine/json-files.ts',
    'engine/load-preprocessor.ts',
  ],
  ...Object.fromEntries(
    PRODUCTS.map((folder) => [
      folder,
      ['shared', 'audio', 'engine/types.ts', 'speech/types.ts', SPOKEN_TEXT],
    ]),
  ),
  host: ['shared', 'image', 'audio', SPOKEN_TEXT],
  entry: [...ENGINE, ...PRODUCTS, 'speech', 'eval', 'inspect', 'hub', 'host'],
  cli: [...ENGINE, ...PRODUCTS, 'speech', 'eval', 'inspect', 'hub', 'host', 'entry'],
}

/** Hosts implement ports, whose types may stand in any layer. */
export const TYPES_FROM_ANYWHERE = ['host']

/** Folders whose sub-folders are alternatives: none imports another, and files beside them import none. */
export const ALTERNATIVES = ['backend', 'host']

/** Only these know where they run. */
export const HOST_FOLDERS = ['host', 'entry', 'cli']

/** Each run-time dependency has one home, behind an interface of ours. */
export const PACKAGE_HOMES = {
  '@hono/node-server': 'host',
  '@huggingface/jinja': 'text',
  '@huggingface/tokenizers': 'text',
  'cmu-pronouncing-dictionary': 'speech',
  commander: 'cli',
  'eventsource-parser': 'assistant',
  'hash-wasm': 'host',
  hono: 'server',
  'opencc-js': 'speech',
  'pinyin-pro': 'speech',
  sharp: 'host',
}
