import { describe, expect, it } from 'vitest'
import { sniffPictureFormat, unsupportedPictureError } from './picture-format.ts'

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

const box = (brands: string): string => `\0\0\0${String.fromCharCode(8 + brands.length)}ftyp${brands}`

describe('sniffPictureFormat', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'jpeg'],
    ['\x89PNG\r\n\x1a\n', 'png'],
    ['GIF87a', 'gif'],
    ['GIF89a', 'gif'],
    ['RIFF\0\0\0\0WEBP', 'webp'],
    ['II*\0', 'tiff'],
    ['MM\0*', 'tiff'],
    ['MM\0+', 'tiff'],
    ['BM\x36\0\0\0\0\0\0\0', 'bmp'],
    ['\xff\x0a', 'jxl'],
    ['\0\0\0\x0cJXL \r\n\x87\n', 'jxl'],
    ['\0\0\0\x0cjP  \r\n\x87\n', 'jp2'],
    [box('avif\0\0\0\0mif1miaf'), 'avif'],
    [box('mif1\0\0\0\0mif1avif'), 'avif'],
    [box('heic\0\0\0\0mif1heic'), 'heic'],
    [box('mif1\0\0\0\0heic'), 'heic'],
    [`${box('isom\0\0\0\0mp41')}avif`, undefined],
    ['\x89PNG\r\n', undefined],
    ['RIFF\0\0\0\0WAVE', undefined],
    ['\0\0\0\x08ftyp', undefined],
    ['', undefined],
    ['hello', undefined],
  ])('%j: %s', (start, format) => {
    expect(sniffPictureFormat(bytes(start))).toBe(format)
  })
})

describe('unsupportedPictureError names what was found', () => {
  it.each([
    ['', 'image/empty', 'a.jpg: expected a picture (JPEG, WebP), found an empty file.'],
    [
      box('heic\0\0\0\0mif1heic'),
      'image/unsupported-format',
      'a.jpg: expected a picture (JPEG, WebP), found HEIC, the format of iPhone photos, which is not decoded here.',
    ],
    ['BM\x36\0\0\0\0\0\0\0', 'image/unsupported-format', 'found BMP.'],
    ['%PDF-1.7\n', 'image/unsupported-format', 'found a PDF document.'],
    [
      '<svg xmlns="http://www.w3.org/2000/svg">',
      'image/unsupported-format',
      'found an SVG drawing, which is refused because it can pull in other files.',
    ],
    ['<?xml version="1.0"?>\n<!-- x --><svg>', 'image/unsupported-format', 'found an SVG drawing'],
    [
      'Hello, this is no picture at all',
      'image/unsupported-format',
      'found text that begins "Hello, this is no pictur".',
    ],
    ['\x1f\x8b\x08\0\0', 'image/unsupported-format', 'found 5 bytes that begin 1f 8b 08 00 00.'],
  ])('%j', (start, code, message) => {
    const error = unsupportedPictureError(bytes(start), 'a.jpg', ['jpeg', 'webp'])
    expect(error.code).toBe(code)
    expect(error.message).toContain(message)
  })

  it('and the next step for HEIC', () => {
    expect(unsupportedPictureError(bytes(box('heic')), 'a.jpg', ['jpeg']).hint).toBe(
      'Convert it to JPEG first, or set the camera to "Most Compatible" so that it takes JPEG.',
    )
  })
})
