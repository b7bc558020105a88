import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { type IntakePorts, intakeOn } from './intake.ts'
import { PictureProblem } from './picture.ts'

/** Decodes with sharp, as the page does with the browser; `redrawn` counts what had to be drawn anew. */
function ports() {
  const redrawn: string[] = []
  const taken: IntakePorts = {
    async look(blob) {
      const image = sharp(new Uint8Array(await blob.arrayBuffer()))
      const { autoOrient, width, height } = await image.metadata()
      await image.stats()
      return { width: autoOrient?.width ?? width, height: autoOrient?.height ?? height, thumbnail: blob }
    },
    async redraw(blob, type) {
      redrawn.push(type)
      const image = sharp(new Uint8Array(await blob.arrayBuffer())).autoOrient()
      const bytes = await (type === 'image/png' ? image.png() : image.jpeg()).toBuffer()
      return new Blob([new Uint8Array(bytes)], { type })
    },
    createId: () => 'id',
  }
  return { taken, redrawn }
}

/** 12 x 8, red on the left, blue on the right. */
const drawing = () =>
  sharp({ create: { width: 12, height: 8, channels: 3, background: 'red' } }).composite([
    { input: { create: { width: 6, height: 8, channels: 3, background: 'blue' } }, left: 6, top: 0 },
  ])

const WHERE_AND_WHO = {
  IFD0: { Make: 'SecretPhone', Copyright: 'SecretPerson' },
  IFD3: {
    GPSLatitudeRef: 'N',
    GPSLatitude: '52/1 31/1 12/1',
    GPSLongitudeRef: 'E',
    GPSLongitude: '13/1 24/1 0/1',
  },
}

const fileOf = (bytes: Uint8Array, name: string): File => new File([new Uint8Array(bytes)], name)
const pixels = (bytes: Uint8Array): Promise<Buffer> =>
  sharp(bytes).autoOrient().removeAlpha().raw().toBuffer()
const bytesOf = async (blob: Blob): Promise<Uint8Array> => new Uint8Array(await blob.arrayBuffer())

describe('what is kept of a picture', () => {
  it.each([
    ['jpeg', 1],
    ['jpeg', 6],
    ['png', 1],
    ['webp', 1],
  ] as const)(
    '%s with orientation %i: the same pixels, no place and no names',
    async (format, orientation) => {
      const file = await drawing()
        .withExif(WHERE_AND_WHO)
        .withMetadata({ orientation })
        .withExifMerge(WHERE_AND_WHO)
        .toFormat(format, { quality: 100 })
        .toBuffer()
      expect(file.includes('SecretPhone')).toBe(true)
      const { taken, redrawn } = ports()
      const picture = await intakeOn(taken, fileOf(file, 'photo'))
      const kept = await bytesOf(picture.blob)
      expect(Buffer.from(kept).includes('Secret')).toBe(false)
      const { exif, orientation: keptOrientation = 1, xmp } = await sharp(kept).metadata()
      expect({ exifBytes: exif?.length ?? 0, keptOrientation, xmp }).toEqual({
        exifBytes: orientation === 1 ? 0 : 32,
        keptOrientation: orientation,
        xmp: undefined,
      })
      expect(await pixels(kept)).toEqual(await pixels(file))
      expect([picture.width, picture.height]).toEqual(orientation === 6 ? [8, 12] : [12, 8])
      expect(redrawn).toEqual([])
      expect(picture.blob.type).toBe(`image/${format}`)
    },
  )

  it('takes away what phones append behind a JPEG', async () => {
    const file = await drawing().jpeg({ progressive: true }).toBuffer()
    const { taken } = ports()
    const { blob } = await intakeOn(taken, fileOf(Buffer.concat([file, Buffer.from('SecretFilm')]), 'a.jpg'))
    expect(Buffer.from(await bytesOf(blob)).includes('Secret')).toBe(false)
    expect(await pixels(await bytesOf(blob))).toEqual(await pixels(file))
  })

  it('keeps the colour profile', async () => {
    const file = await drawing().withIccProfile('p3').jpeg().toBuffer()
    const { taken } = ports()
    const { blob } = await intakeOn(taken, fileOf(file, 'a.jpg'))
    expect((await sharp(await bytesOf(blob)).metadata()).icc?.length).toBe(
      (await sharp(file).metadata()).icc?.length,
    )
  })

  it.each([
    ['a.gif', 'gif', 'image/png'],
    ['a.avif', 'avif', 'image/jpeg'],
    ['a.tiff', 'tiff', 'image/png'],
  ] as const)('draws %s anew', async (name, format, expected) => {
    const { taken, redrawn } = ports()
    const picture = await intakeOn(taken, fileOf(await drawing().toFormat(format).toBuffer(), name))
    expect(redrawn).toEqual([expected])
    expect([picture.width, picture.height, picture.name]).toEqual([12, 8, name])
  })

  it('draws a WebP that lies on its side anew', async () => {
    const file = await drawing().withMetadata({ orientation: 6 }).webp().toBuffer()
    const { taken, redrawn } = ports()
    await intakeOn(taken, fileOf(file, 'a.webp'))
    expect(redrawn).toEqual(['image/png'])
  })
})

describe('what is refused', () => {
  const reasonOf = (file: Blob): Promise<unknown> =>
    intakeOn(ports().taken, file).then(
      () => 'taken',
      (error) => (error instanceof PictureProblem ? error.reason : error),
    )

  it('is said by its reason', async () => {
    const jpeg = await drawing().jpeg().toBuffer()
    expect(await reasonOf(new File([], 'a.jpg'))).toBe('empty')
    expect(await reasonOf(fileOf(new TextEncoder().encode('hello'), 'a.jpg'))).toBe('format')
    expect(await reasonOf(fileOf(jpeg.subarray(0, 40), 'a.jpg'))).toBe('broken')
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
    expect(await reasonOf(fileOf(heic, 'IMG_1.HEIC'))).toBe('heic')
  })

  it('is not decoded where its header promises too many pixels', async () => {
    const png = await drawing().png().toBuffer()
    png.writeUInt32BE(20_000, 16)
    png.writeUInt32BE(20_000, 20)
    const { taken } = ports()
    const look = () => Promise.reject(new Error('decoded'))
    await expect(intakeOn({ ...taken, look }, fileOf(png, 'big.png'))).rejects.toMatchObject({
      reason: 'pixels',
    })
  })

  it('never crashes on damaged files', async () => {
    for (const format of ['jpeg', 'png', 'webp'] as const) {
      const file = await drawing().withExif(WHERE_AND_WHO).toFormat(format).toBuffer()
      for (let at = 0; at < file.length; at += 13) {
        const spoiled = Buffer.from(file)
        spoiled[at] = (spoiled[at] ?? 0) ^ 0xff
        const outcome = await reasonOf(fileOf(spoiled, 'a'))
        expect(['taken', 'broken', 'format', 'pixels']).toContain(outcome)
      }
    }
  })
})
