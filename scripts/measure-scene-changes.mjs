// What the change detector of the live camera makes of what cameras do: made recordings of scenes with noise, light that
// changes, hands that shake, small things that move, and scenes that change. Prints the table of docs/app-live.md.
//   node scripts/measure-scene-changes.mjs
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const { module: detector } = await runnerImport(path('app/src/live/change-detector.ts'))
const { module: film } = await runnerImport(path('test/app/camera-film.ts'))
const { CELLS_WIDE, CELLS_HIGH, differenceOf, isChange } = detector
const { FILM_WIDTH: WIDTH, FILM_HEIGHT: HEIGHT, frameOfPicture } = film

/** Numbers from 0 to 1, the same at every run (mulberry32). */
function randomOf(/** @type {number} */ seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Greys of a drawn picture. */
async function drawnScene(/** @type {string} */ name) {
  const rgb = await frameOfPicture(name)
  return Float32Array.from({ length: WIDTH * HEIGHT }, (_, at) => {
    return 0.299 * rgb[at * 3] + 0.587 * rgb[at * 3 + 1] + 0.114 * rgb[at * 3 + 2]
  })
}

/** A cluttered place: surfaces of all sizes and greys over each other, with a grain. */
function clutteredScene(/** @type {number} */ seed) {
  const random = randomOf(seed)
  const scene = new Float32Array(WIDTH * HEIGHT).fill(60 + 120 * random())
  for (let count = 0; count < 60; count++) {
    const size = 20 + 300 * random() ** 2
    rectangle(scene, random() * WIDTH, random() * HEIGHT, size, size * (0.3 + random()), 20 + 215 * random())
  }
  for (let at = 0; at < scene.length; at++) scene[at] += 16 * (random() - 0.5)
  return scene
}

/** @param {Float32Array} scene @param {number} left @param {number} top @param {number} width @param {number} height @param {number} grey */
function rectangle(scene, left, top, width, height, grey) {
  for (let y = Math.max(0, top | 0); y < Math.min(HEIGHT, top + height); y++) {
    scene.fill(grey, y * WIDTH + Math.max(0, left | 0), y * WIDTH + Math.min(WIDTH, (left + width) | 0))
  }
}

/** @param {Float32Array} scene @param {number} dx @param {number} dy */
function moved(scene, dx, dy) {
  const clamp = (/** @type {number} */ value, /** @type {number} */ end) =>
    Math.min(end - 1, Math.max(0, value))
  return Float32Array.from(scene, (_, at) => {
    const x = clamp((at % WIDTH) + dx, WIDTH)
    return scene[clamp(Math.floor(at / WIDTH) + dy, HEIGHT) * WIDTH + x]
  })
}

/** What a camera gives of it: noise of each pixel, noise that lies in blotches as compression leaves it, cut to 0..255. */
function filmed(
  /** @type {Float32Array} */ scene,
  /** @type {() => number} */ random,
  noise = 5,
  { gain = 1, bias = 0 } = {},
) {
  const cells = new Float32Array(CELLS_WIDE * CELLS_HIGH)
  const size = WIDTH / CELLS_WIDE
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const grain = noise * 1.7 * (random() + random() - 1)
      const grey = Math.min(255, Math.max(0, scene[y * WIDTH + x] * gain + bias + grain))
      cells[Math.floor(y / size) * CELLS_WIDE + Math.floor(x / size)] += grey / size ** 2
    }
  }
  return Uint8Array.from(cells, (grey) => Math.round(grey + 0.4 * noise * (random() + random() - 1)))
}

const between = (/** @type {() => number} */ random, /** @type {number} */ low, /** @type {number} */ high) =>
  low + (high - low) * random()

/** @param {Float32Array} scene @param {() => number} random @param {number} width @param {number} height */
function withThing(scene, random, width, height) {
  const copy = scene.slice()
  const left = random() * (WIDTH - width)
  const top = random() * (HEIGHT - height)
  const here = scene[Math.floor(top + height / 2) * WIDTH + Math.floor(left + width / 2)]
  // Dark before light and light before dark, as most things can be told from what is behind them.
  rectangle(
    copy,
    left,
    top,
    width,
    height,
    here > 128 ? between(random, 10, here - 60) : between(random, here + 60, 245),
  )
  return copy
}

/** @typedef {(scene: Float32Array, random: () => number, other: Float32Array) => [Uint8Array, Uint8Array]} Effect */
/** @type {Record<string, [expected: string, effect: Effect]>} */
const EFFECTS = {
  'still, good light': ['same', (s, r) => [filmed(s, r), filmed(s, r)]],
  'still, dim light (much noise)': [
    'same',
    (s, r) => [filmed(s, r, 18, { gain: 0.5 }), filmed(s, r, 18, { gain: 0.5 })],
  ],
  'light goes up or down by 40': [
    'same',
    (s, r) => [filmed(s, r), filmed(s, r, 5, { bias: r() < 0.5 ? 40 : -40 })],
  ],
  'exposure adjusts, 0.75 to 1.3': [
    'same',
    (s, r) => [
      filmed(s, r),
      filmed(s, r, 5, { gain: r() < 0.5 ? between(r, 0.75, 0.9) : between(r, 1.1, 1.3) }),
    ],
  ],
  'hand shakes, up to 4 pixels': [
    'same',
    (s, r) => [
      filmed(s, r),
      filmed(moved(s, Math.round(between(r, -4, 4)), Math.round(between(r, -4, 4))), r),
    ],
  ],
  'hand moves, 8 to 12 pixels': [
    'either',
    (s, r) => [
      filmed(s, r),
      filmed(moved(s, Math.round(between(r, 8, 12)), Math.round(between(r, -12, -8))), r),
    ],
  ],
  'small thing moves, 40 x 40': [
    'same',
    (s, r) => [filmed(withThing(s, r, 40, 40), r), filmed(withThing(s, r, 40, 40), r)],
  ],
  'thing comes, 4 % of the picture': [
    'either',
    (s, r) => [filmed(s, r), filmed(withThing(s, r, 110, 110), r)],
  ],
  'thing comes, 10 %': ['other', (s, r) => [filmed(s, r), filmed(withThing(s, r, 175, 175), r)]],
  'somebody comes, 120 x 360': ['other', (s, r) => [filmed(s, r), filmed(withThing(s, r, 120, 360), r)]],
  'camera turns, 80 pixels': ['other', (s, r) => [filmed(s, r), filmed(moved(s, 80, 0), r)]],
  'another scene': ['other', (s, r, o) => [filmed(s, r), filmed(o, r)]],
  'another scene, other light': [
    'other',
    (s, r, o) => [filmed(s, r), filmed(o, r, 5, { gain: 0.7, bias: 20 })],
  ],
}

const pictures = readdirSync(path('test/golden/tiny-cases/pictures')).slice(0, 24)
const scenes = {
  drawn: await Promise.all(
    pictures.map((name) => drawnScene(path(`test/golden/tiny-cases/pictures/${name}`))),
  ),
  cluttered: Array.from({ length: 24 }, (_, seed) => clutteredScene(seed + 1)),
}
const quantile = (/** @type {number[]} */ values, /** @type {number} */ share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]

for (const [kind, list] of Object.entries(scenes)) {
  console.log(`\n${list.length} ${kind} scenes\n`)
  console.log(
    '| | is | mean difference: median, highest | changed cells: median, highest | counts as change |',
  )
  console.log('| --- | --- | --- | --- | --- |')
  for (const [name, [expected, effect]] of Object.entries(EFFECTS)) {
    const differences = list.map((scene, index) =>
      differenceOf(...effect(scene, randomOf(index * 7919 + 1), list[(index + 1) % list.length])),
    )
    const means = differences.map(({ mean }) => mean)
    const shares = differences.map(({ share }) => 100 * share)
    const count = differences.filter((difference) => isChange(difference)).length
    const row = [
      name,
      expected,
      `${quantile(means, 0.5).toFixed(1)}, ${Math.max(...means).toFixed(1)}`,
      `${quantile(shares, 0.5).toFixed(1)} %, ${Math.max(...shares).toFixed(1)} %`,
      `${count} of ${list.length}`,
    ]
    console.log(`| ${row.join(' | ')} |`)
  }
}
