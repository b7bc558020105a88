// Draws the icons of the app from its one drawing. Run after a change of app/public/icons/icon.svg.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const folder = fileURLToPath(new URL('../app/public/icons/', import.meta.url))
const drawing = readFileSync(`${folder}icon.svg`, 'utf8')
/** Phones cut icons into shapes of their own: for them the ground reaches the edge. */
const square = drawing.replace(/ rx="\d+"/, '')
/** Whatever the shape, the middle 80 % of a maskable icon stays. */
const SAFE_PART = 0.8

/** @param {string} svg @param {number} size @param {string} name */
async function draw(svg, size, name) {
  await sharp(Buffer.from(svg), { density: 300 })
    .resize(size, size)
    .png({ compressionLevel: 9, palette: true })
    .toFile(`${folder}${name}`)
}

const inset = (512 * (1 - SAFE_PART)) / 2
const maskable = square.replace(
  /(<rect [^>]*\/>)([\s\S]*)<\/svg>/,
  `$1<g transform="translate(${inset} ${inset}) scale(${SAFE_PART})">$2</g></svg>`,
)

await draw(drawing, 192, 'icon-192.png')
await draw(drawing, 512, 'icon-512.png')
await draw(maskable, 512, 'icon-maskable-512.png')
await draw(square, 180, 'apple-touch-icon.png')
