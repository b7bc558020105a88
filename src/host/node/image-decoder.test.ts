import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { readPicture, sha256, vectors } from '../../../test/golden/image/vectors.ts'
import { planFrames, preprocess } from '../../image/preprocess.ts'
import { parsePreprocessorConfig } from '../../image/preprocessor-config.ts'
import type { RgbImage } from '../../image/rgb-image.ts'
import { completeSteps } from '../../shared/steps.ts'
import { createImageDecoder } from './image-decoder.ts'

const decoder = createImageDecoder()

function golden(path: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`../../../test/golden/${path}`, import.meta.url)))
}

function pixel(image: RgbImage, x: number, y: number): number[] {
  return [...image.data.subarray((y * image.width + x) * 3, (y * image.width + x) * 3 + 3)]
}

describe('decodes as Pillow does, byte for byte', () => {
  it.each(Object.entries(vectors.pictures))('%s', async (name, expected) => {
    const { image, orientation } = await decoder.decode(readPicture(name), name)
    expect([image.width, image.height, orientation]).toEqual([expected.width, expected.height, 1])
    expect(sha256([image.data])).toBe(expected.sha256)
  })

  it('AVIF apart from the rounding of its colours', async () => {
    const { image, format } = await decoder.decode(readPicture('rgb.avif'), 'rgb.avif')
    expect([format, image.width, image.height]).toEqual(['avif', 37, 23])
    const { image: original } = await decoder.decode(readPicture('rgb.png'), 'rgb.png')
    const distance = Math.max(
      ...[0, 18, 36].map((x) => Math.abs(pixel(image, x, 11)[0]! - pixel(original, x, 11)[0]!)),
    )
    expect(distance).toBeLessThan(16)
  })

  it('16-bit AVIF samples by their upper bits', async () => {
    const grey = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#808080' } })
      .toColourspace('rgb16')
      .avif({ bitdepth: 10, lossless: true })
      .toBuffer()
    const { image } = await decoder.decode(grey, 'ten-bits.avif')
    expect(new Set(image.data)).toEqual(new Set([128]))
  })
})

describe('names the format it found, whatever the file is called', () => {
  it.each([
    ['rgb-420.jpg', 'jpeg'],
    ['rgb.png', 'png'],
    ['lossy.webp', 'webp'],
    ['rgb.gif', 'gif'],
    ['rgb.tiff', 'tiff'],
  ])('%s', async (file, format) => {
    expect((await decoder.decode(readPicture(file), 'wrong.bmp')).format).toBe(format)
  })
})

describe('turns pictures upright', () => {
  it.each([
    ...[1, 2, 3, 4, 5, 6, 7, 8].map(
      (orientation) => [`orientation-${orientation}.jpg`, orientation] as const,
    ),
    ['orientation-6.png', 6] as const,
    ['orientation-6.webp', 6] as const,
  ])('%s', async (file, expected) => {
    const { image, orientation } = await decoder.decode(readPicture(file), file)
    expect([image.width, image.height, orientation]).toEqual([48, 32, expected])
    const quarters = [pixel(image, 4, 4), pixel(image, 43, 4), pixel(image, 4, 27), pixel(image, 43, 27)]
    // JPEG keeps these colours to within 2.
    const rounded = quarters.map((colour) =>
      colour.map((sample) => (sample > 252 ? 255 : sample < 3 ? 0 : sample)),
    )
    expect(rounded).toEqual([
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
      [255, 255, 255],
    ])
  })

  it.each([0, 9])('orientation %d means nothing and counts as 1', async (value) => {
    const bytes = readPicture('orientation-1.jpg')
    const entry = Buffer.from(bytes).indexOf(Buffer.from([0x01, 0x12]))
    const little = entry < 0 ? Buffer.from(bytes).indexOf(Buffer.from([0x12, 0x01])) : entry
    const at = little + 8
    bytes[bytes[at] === 1 ? at : at + 1] = value
    const { image, orientation } = await decoder.decode(bytes, 'x.jpg')
    expect([image.width, image.height, orientation]).toEqual([48, 32, 1])
  })
})

describe('refuses with a message', () => {
  it.each([
    ['rgb-420.jpg', 0.6],
    ['progressive.jpg', 0.6],
    ['rgb.png', 0.6],
    ['rgba.webp', 0.6],
    ['lossy.webp', 0.6],
    ['rgb.gif', 0.9],
    ['rgb.avif', 0.9],
    ['rgb.tiff', 0.9],
  ])('%s cut off after %d of its length', async (file, share) => {
    const bytes = readPicture(file)
    const error = await decoder
      .decode(bytes.subarray(0, bytes.length * share), 'cut')
      .catch((cause: unknown) => cause)
    expect(error).toMatchObject({ code: 'image/damaged' })
    expect((error as Error).message).toMatch(
      /^cut: expected (a readable [A-Z]+ header|37 x 23 pixels), but decoding failed: \S.*\.$/,
    )
  })

  it('pixels that the JPEG decoder had to invent', async () => {
    const bytes = readPicture('progressive.jpg')
    bytes.fill(0xff, bytes.length - 60, bytes.length - 30)
    await expect(decoder.decode(bytes, 'x.jpg')).rejects.toMatchObject({ code: 'image/damaged' })
  })

  it('but not stray bytes between segments', async () => {
    const bytes = readPicture('rgb-444.jpg')
    const at = Buffer.from(bytes).indexOf(Buffer.from([0xff, 0xdb]))
    const odd = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(3), bytes.subarray(at)])
    const { image } = await decoder.decode(odd, 'x.jpg')
    expect(sha256([image.data])).toBe(vectors.pictures['rgb-444.jpg']!.sha256)
  })

  it('a picture above the limit, by its header', async () => {
    const bytes = readPicture('rgb.png')
    const view = new DataView(bytes.buffer)
    view.setUint32(16, 20_000)
    view.setUint32(20, 20_000)
    view.setUint32(29, crc32(bytes.subarray(12, 29)))
    await expect(decoder.decode(bytes, 'huge.png')).rejects.toMatchObject({
      code: 'image/too-large',
      message: 'huge.png: the picture has 20000 x 20000 = 400000000 pixels; at most 134217728 are decoded.',
    })
  })

  it('what is no picture', async () => {
    const text = new TextEncoder().encode('just text')
    await expect(decoder.decode(text, 'a.png')).rejects.toMatchObject({
      code: 'image/unsupported-format',
      message:
        'a.png: expected a picture (JPEG, PNG, WebP, GIF, AVIF, TIFF), found text that begins "just text".',
    })
    await expect(decoder.decode(new Uint8Array(), 'a.png')).rejects.toMatchObject({ code: 'image/empty' })
    const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    await expect(decoder.decode(svg, 'a.svg')).rejects.toMatchObject({ code: 'image/unsupported-format' })
  })

  it('floating-point samples', async () => {
    await expect(decoder.decode(readPicture('float.tiff'), 'a.tiff')).rejects.toMatchObject({
      code: 'image/unsupported-format',
      message: 'a.tiff: expected grey, RGB or CMYK samples of 8 or 16 bits, found samples of type "float".',
    })
  })

  it('more channels than colours and alpha', async () => {
    const raw = (channels: 1 | 3): { raw: { width: number; height: number; channels: 1 | 3 } } => ({
      raw: { width: 4, height: 4, channels },
    })
    const bytes = await sharp(Buffer.alloc(48, 9), raw(3))
      .joinChannel([Buffer.alloc(16, 5), Buffer.alloc(16, 6)], raw(1))
      .tiff({ compression: 'none' })
      .toBuffer()
    await expect(decoder.decode(bytes, 'a.tiff')).rejects.toMatchObject({
      code: 'image/unsupported-format',
      message: 'a.tiff: expected grey, RGB or CMYK samples of 8 or 16 bits, found 5 channels in 80 bytes.',
    })
  })

  it('an aborted signal before any work', async () => {
    await expect(decoder.decode(readPicture('rgb.png'), 'a.png', AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    })
  })
})

describe('pixel_values of the reference models are identical', () => {
  it.each([
    ['smolvlm', 0],
    ['smolvlm', 1],
    ['smolvlm', 2],
    ['smolvlm-one-tile', 0],
    ['smolvlm-one-tile', 1],
    ['llava', 0],
    ['llava', 1],
  ])('%s, picture %d', async (folder, index) => {
    const readJson = (name: string): { name: string; value: unknown } => ({
      name,
      value: JSON.parse(Buffer.from(golden(`${folder}/${name}`)).toString()),
    })
    const settings = parsePreprocessorConfig({
      preprocessor: readJson('preprocessor_config.json'),
      processor: readJson('processor_config.json'),
    })
    const { image } = await decoder.decode(golden(`${folder}/picture-${index}.png`), 'picture')
    const result = completeSteps(preprocess(image, planFrames(image, settings, 'high')))
    const expected = readTensor(golden(`${folder}/expected.safetensors`), `p${index}.pixel_values`)
    expect([result.frames.length, 3, result.frameHeight, result.frameWidth]).toEqual(expected.shape)
    const frames = result.frames.map((_, frame) => Buffer.from(result.pixelValues(frame).buffer))
    expect(Buffer.concat(frames).equals(expected.data)).toBe(true)
  })
})

function readTensor(file: Uint8Array, name: string): { shape: number[]; data: Buffer } {
  const buffer = Buffer.from(file)
  const headerLength = Number(buffer.readBigUInt64LE(0))
  const header = JSON.parse(buffer.subarray(8, 8 + headerLength).toString())
  const { shape, data_offsets: offsets } = header[name]
  return { shape, data: buffer.subarray(8 + headerLength + offsets[0], 8 + headerLength + offsets[1]) }
}

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

describe('makes pictures of more than maxPixels smaller while decoding', () => {
  const gradient = (width: number, height: number): Uint8Array =>
    Uint8Array.from({ length: width * height * 3 }, (_, at) => {
      const [x, y] = [Math.floor(at / 3) % width, Math.floor(at / 3 / width)]
      return at % 3 === 0 ? (255 * x) / width : at % 3 === 1 ? (255 * y) / height : 128
    })
  const raw = { raw: { width: 400, height: 200, channels: 3 } } as const
  const picture = sharp(gradient(400, 200), raw)

  it.each([
    ['jpeg', () => picture.clone().jpeg({ quality: 98 }).toBuffer()],
    ['png', () => picture.clone().png().toBuffer()],
    ['webp', () => picture.clone().webp({ quality: 98 }).toBuffer()],
    ['tiff', () => picture.clone().tiff().toBuffer()],
  ])('%s', async (format, make) => {
    const found = await decoder.decode(await make(), 'a', undefined, 5000)
    expect([found.format, found.width, found.height, found.image.width, found.image.height]).toEqual([
      format,
      400,
      200,
      100,
      50,
    ])
    for (const [x, y] of [
      [10, 10],
      [50, 25],
      [90, 40],
    ] as const) {
      const expected = [(255 * (x + 0.5)) / 100, (255 * (y + 0.5)) / 50, 128]
      for (const [channel, value] of pixel(found.image, x, y).entries())
        expect(Math.abs(value - (expected[channel] as number))).toBeLessThan(5)
    }
  })

  it('turned ones after their tag', async () => {
    const turned = await picture.clone().jpeg({ quality: 98 }).withMetadata({ orientation: 6 }).toBuffer()
    const { image, width, height, orientation } = await decoder.decode(turned, 'a', undefined, 5000)
    expect([width, height, image.width, image.height, orientation]).toEqual([200, 400, 50, 100, 6])
    // The left side of the file, without red, is at the top.
    expect(pixel(image, 25, 3)[0]).toBeLessThan(20)
    expect(pixel(image, 25, 96)[0]).toBeGreaterThan(235)
  })

  it('transparent ones over white', async () => {
    const clear = await sharp({ create: { width: 300, height: 300, channels: 4, background: '#f000' } })
      .png()
      .toBuffer()
    const { image } = await decoder.decode(clear, 'a', undefined, 900)
    expect([image.width, image.height, new Set(image.data)]).toEqual([30, 30, new Set([255])])
  })

  it('leaves those that fit as they are, byte for byte', async () => {
    const bytes = await picture.clone().png().toBuffer()
    const whole = await decoder.decode(bytes, 'a')
    expect((await decoder.decode(bytes, 'a', undefined, 80_000)).image).toEqual(whole.image)
  })

  it('refuses progressive ones that are held whole and far too large', async () => {
    const bytes = await picture.clone().jpeg({ progressive: true }).toBuffer()
    await decoder.decode(bytes, 'a', undefined, 30_000)
    await expect(decoder.decode(bytes, 'a.jpg', undefined, 20_000)).rejects.toMatchObject({
      code: 'image/too-large',
      message:
        'a.jpg: the picture has 400 x 200 pixels, which its decoder holds at once (it is progressive); at most 60000 fit the memory limit.',
    })
  })
})
