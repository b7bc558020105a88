import { describe, expect, it } from 'vitest'
import { readPicture, vectors } from '../../test/golden/image/vectors.ts'
import { type PictureFormat, sniffPictureFormat } from './picture-format.ts'
import { type PictureHeader, parsePictureHeader } from './picture-header.ts'

const ORIENTED = [
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((orientation) => [`orientation-${orientation}.jpg`, orientation] as const),
  ['orientation-6.png', 6],
  ['orientation-6.webp', 6],
] as const

function parse(name: string, bytes = readPicture(name)): PictureHeader | undefined {
  return parsePictureHeader(bytes, sniffPictureFormat(bytes) as PictureFormat)
}

describe('size and orientation as they are stored', () => {
  const plain = Object.entries(vectors.pictures).filter(([name]) => !name.endsWith('.tiff'))
  it.each([...plain, ['rgb.avif', { width: 37, height: 23 }] as const])('%s', (name, { width, height }) => {
    expect(parse(name)).toEqual({ width, height, orientation: 1, exif: undefined })
  })

  it.each(ORIENTED)('%s', (name, orientation) => {
    const size = orientation > 4 ? { width: 32, height: 48 } : { width: 48, height: 32 }
    expect(parse(name)).toMatchObject({ ...size, orientation })
  })

  it('BMP with rows from top to bottom, and of the oldest kind', () => {
    const view = new DataView(new ArrayBuffer(30))
    view.setUint16(0, 0x424d)
    view.setUint32(14, 40, true)
    view.setInt32(18, 640, true)
    view.setInt32(22, -480, true)
    const bytes = new Uint8Array(view.buffer)
    expect(parsePictureHeader(bytes, 'bmp')).toMatchObject({ width: 640, height: 480 })
    view.setUint32(14, 12, true)
    view.setUint16(20, 48, true)
    expect(parsePictureHeader(bytes, 'bmp')).toMatchObject({ width: 640, height: 48 })
  })

  it('stray bytes between segments of a JPEG', () => {
    const bytes = readPicture('rgb-444.jpg')
    const at = Buffer.from(bytes).indexOf(Buffer.from([0xff, 0xdb]))
    const odd = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(3), bytes.subarray(at)])
    expect(parse('', odd)).toMatchObject({ width: 37, height: 23 })
  })
})

it.each(ORIENTED.filter(([, orientation]) => orientation > 1))(
  '%s without its Exif block is the same picture with no orientation',
  (name) => {
    const bytes = readPicture(name)
    const { exif, width, height } = parse(name, bytes)!
    const { byteOffset, byteLength, replacement } = exif!
    const plain = Buffer.concat([
      bytes.subarray(0, byteOffset),
      Buffer.from(replacement),
      bytes.subarray(byteOffset + byteLength),
    ])
    expect(parse(name, plain)).toEqual({ width, height, orientation: 1, exif: undefined })
  },
)

describe('what cannot be followed has no header', () => {
  const NAMES = [
    'rgb-420.jpg',
    'orientation-6.png',
    'orientation-6.webp',
    'lossless.webp',
    'rgb.gif',
    'rgb.avif',
  ]

  it.each(NAMES)('%s cut off anywhere', (name) => {
    const bytes = readPicture(name)
    const format = sniffPictureFormat(bytes) as PictureFormat
    const whole = parse(name)!
    for (let length = 0; length < bytes.length; length++) {
      const { width, height } = parsePictureHeader(bytes.subarray(0, length), format) ?? whole
      expect([width, height]).toEqual([whole.width, whole.height])
    }
    expect(parsePictureHeader(bytes.subarray(0, 12), format)?.width).toBe(format === 'gif' ? 37 : undefined)
  })

  it('a picture without pixels', () => {
    const bytes = readPicture('rgb.gif')
    bytes.fill(0, 6, 8)
    expect(parse('', bytes)).toBeUndefined()
  })

  it('boxes of no length, which would be read for ever', () => {
    const bytes = readPicture('rgb.avif')
    bytes.fill(0, 0, 4)
    bytes[3] = 7
    expect(parsePictureHeader(bytes, 'avif')).toBeUndefined()
  })

  it.each(['tiff', 'jxl', 'jp2'] as const)('%s is not read here', (format) => {
    expect(parsePictureHeader(new Uint8Array(100), format)).toBeUndefined()
  })
})
