import { describe, expect, it } from 'vitest'
import { encodeWav } from './encode-wav.ts'
import { parseWav, WavDecoder } from './wav-decoder.ts'

const ascii = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0))
const u16 = (value: number): number[] => [value & 255, (value >> 8) & 255]
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(Math.floor(value / 65536))]
const chunk = (id: string, bytes: readonly number[], length = bytes.length): number[] => [
  ...ascii(id),
  ...u32(length),
  ...bytes,
  ...(bytes.length % 2 ? [0] : []),
]

interface Layout {
  codec?: number
  channels?: number
  rate?: number
  bits?: number
  frameBytes?: number
  extra?: readonly number[]
}

function format({
  codec = 1,
  channels = 1,
  rate = 16000,
  bits = 16,
  frameBytes,
  extra = [],
}: Layout): number[] {
  const frame = frameBytes ?? (channels * bits) / 8
  return [
    ...u16(codec),
    ...u16(channels),
    ...u32(rate),
    ...u32(rate * frame),
    ...u16(frame),
    ...u16(bits),
    ...extra,
  ]
}

const file = (...chunks: number[][]): Uint8Array =>
  Uint8Array.from([...ascii('RIFF'), ...u32(chunks.flat().length + 4), ...ascii('WAVE'), ...chunks.flat()])
const wav = (layout: Layout, data: readonly number[], length?: number): Uint8Array =>
  file(chunk('fmt ', format(layout)), chunk('data', data, length))
const samplesOf = (bytes: Uint8Array): number[] => [...parseWav(bytes, 'test.wav').samples]

/** -1, -0.5, 0 and 0.5 in each encoding. */
const VALUES = [-1, -0.5, 0, 0.5]
const STORED: [string, Layout, number[]][] = [
  ['8 bits', { bits: 8 }, [0, 64, 128, 192]],
  ['16 bits', { bits: 16 }, [0x8000, 0xc000, 0, 0x4000].flatMap(u16)],
  ['24 bits', { bits: 24 }, [0, 0, 0x80, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0x40]],
  ['32 bits', { bits: 32 }, [0x80000000, 0xc0000000, 0, 0x40000000].flatMap(u32)],
  ['float 32', { codec: 3, bits: 32 }, [...new Uint8Array(new Float32Array(VALUES).buffer)]],
  ['float 64', { codec: 3, bits: 64 }, [...new Uint8Array(new Float64Array(VALUES).buffer)]],
]

describe.each(STORED)('%s', (_, layout, data) => {
  it('gives the stored values', () => {
    expect(samplesOf(wav(layout, data))).toEqual(VALUES)
  })

  it('is the mean of its channels', () => {
    const width = (layout.bits ?? 16) / 8
    const stereo = VALUES.flatMap((_, i) => {
      const at = (index: number): number[] => data.slice(index * width, (index + 1) * width)
      return [...at(i), ...at(3 - i)]
    })
    expect(samplesOf(wav({ ...layout, channels: 2 }, stereo))).toEqual([-0.25, -0.25, -0.25, -0.25])
  })

  it('is the same in pieces of 1 to 7 bytes', () => {
    const bytes = wav({ ...layout, channels: 2 }, [...data, ...data])
    for (let size = 1; size <= 7; size++) {
      const decoder = new WavDecoder('test.wav')
      const found: number[] = []
      for (let at = 0; at < bytes.length; at += size)
        found.push(...decoder.push(bytes.subarray(at, at + size)))
      expect([size, ...found, ...decoder.finish()]).toEqual([size, -0.75, 0.25, -0.75, 0.25])
    }
  })

  it('in the extensible format', () => {
    const subFormat = [...u16(layout.codec ?? 1), 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
    const extra = [...u16(22), ...u16(layout.bits ?? 16), ...u32(4), ...subFormat]
    expect(samplesOf(wav({ ...layout, codec: 0xfffe, extra }, data))).toEqual(VALUES)
  })
})

describe('lengths that are wrong', () => {
  const data = [0x4000, 0x2000, 0x1000].flatMap(u16)
  const values = [0.5, 0.25, 0.125]

  it.each([0, 0x7ffff000, 0xffffffff, 7, 1000])('%d in place of the length of the sound', (length) => {
    expect(samplesOf(wav({}, data.concat(data), length)).slice(0, 3)).toEqual(values)
  })

  it('a length of 0 loses nothing, even where fewer than 8 bytes follow', () => {
    expect(samplesOf(wav({}, data.concat(data), 0))).toEqual([...values, ...values])
    expect(samplesOf(wav({}, data, 0))).toEqual(values)
  })

  it('an empty sound with a list behind it is empty', () => {
    expect(
      samplesOf(file(chunk('fmt ', format({})), chunk('data', []), chunk('LIST', ascii('INFOabcd')))),
    ).toEqual([])
  })

  it('what follows the sound is no sound', () => {
    expect(
      samplesOf(file(chunk('fmt ', format({})), chunk('data', data), chunk('LIST', ascii('INFOabcd')))),
    ).toEqual(values)
  })

  it('chunks of odd length before the sound', () => {
    const list = chunk('LIST', ascii('INFOa'))
    expect(
      samplesOf(file(list, chunk('fmt ', [...format({}), 0, 0]), chunk('junk', [1]), chunk('data', data))),
    ).toEqual(values)
  })

  it('a sound that ends within a frame', () => {
    expect(samplesOf(wav({ channels: 2 }, data))).toEqual([0.375])
  })

  it.each(['RF64', 'BW64'])('%s has its length in 64 bits', (magic) => {
    const sizes = [...u32(100), ...u32(0), ...u32(4), ...u32(0), ...u32(2), ...u32(0), ...u32(0)]
    const bytes = file(chunk('ds64', sizes), chunk('fmt ', format({})), chunk('data', data, 0xffffffff))
    bytes.set(ascii(magic))
    expect(samplesOf(bytes)).toEqual([0.5, 0.25])
  })
})

it('24 bits in 4 bytes: the upper three count', () => {
  expect(samplesOf(wav({ bits: 24, frameBytes: 4 }, [9, 0, 0, 0x40, 9, 0, 0, 0xc0]))).toEqual([0.5, -0.5])
})

it.each([0, 3, 65535])('a frame of %d bytes is impossible and not believed', (frameBytes) => {
  expect(samplesOf(wav({ channels: 2, frameBytes }, [0, 0x40, 0, 0x20]))).toEqual([0.375])
})

it('values that are no numbers count as silence; values beyond 1 stay', () => {
  const data = [...new Uint8Array(new Float32Array([Number.NaN, Number.POSITIVE_INFINITY, 2]).buffer)]
  expect(samplesOf(wav({ codec: 3, bits: 32 }, data))).toEqual([0, 0, 2])
})

it.each([8000, 11025, 44100, 192000])('%d samples a second', (rate) => {
  expect(parseWav(wav({ rate }, [0, 0]), 'test.wav').sampleRate).toBe(rate)
})

it('a header without sound is an empty clip', () => {
  expect(parseWav(encodeWav({ samples: new Float32Array(0), sampleRate: 16000 }), 'test.wav')).toEqual({
    samples: new Float32Array(0),
    sampleRate: 16000,
  })
})

describe('refused', () => {
  const codeOf = (bytes: Uint8Array): { code: string; message: string } => {
    try {
      parseWav(bytes, 'talk.wav')
    } catch (error) {
      return error as { code: string; message: string }
    }
    throw new Error('parsed')
  }

  it.each([
    ['nothing', [], 'found an empty file'],
    ['text', ascii('Hello, this is text'), 'found bytes that begin with 48 65 6c 6c'],
    ['MP3', [...ascii('ID3'), ...Array(20).fill(0)], 'found a file in MP3 format'],
    ['MP3 without a tag', [0xff, 0xfb, 0x90, 0, ...Array(20).fill(0)], 'found a file in MP3 format'],
    ['AAC', [0xff, 0xf1, 0x50, 0, ...Array(20).fill(0)], 'found a file in AAC format'],
    ['M4A', [0, 0, 0, 32, ...ascii('ftypM4A isom')], 'found a file in MP4 or M4A format'],
    ['FLAC', ascii('fLaC and more bytes'), 'found a file in FLAC format'],
    ['big-endian RIFX', ascii('RIFX....WAVEfmt '), 'found bytes that begin with 52 49 46 58'],
  ])('%s', (_, bytes, message) => {
    const error = codeOf(Uint8Array.from(bytes))
    expect(error.code).toBe('audio/unsupported-format')
    expect(error.message).toContain('talk.wav: expected a WAV file')
    expect(error.message).toContain(message)
  })

  it.each([
    [{ codec: 85 }, 'found MP3 with 16 bits'],
    [{ codec: 17, bits: 4 }, 'found IMA ADPCM with 4 bits'],
    [{ codec: 3, bits: 16 }, 'found codec 3 with 16 bits'],
    [{ bits: 0 }, 'found codec 1 with 0 bits'],
    [{ bits: 64 }, 'found codec 1 with 64 bits'],
  ])('codec %j', (layout, message) => {
    const error = codeOf(wav(layout, [0, 0]))
    expect(error.code).toBe('audio/unsupported-format')
    expect(error.message).toContain(message)
  })

  it.each([0, 7999, 192001, 0xffffffff])('%d samples a second', (rate) => {
    expect(codeOf(wav({ rate }, [0, 0])).code).toBe('audio/unsupported-rate')
  })

  it.each([
    ['no channels', wav({ channels: 0, frameBytes: 0 }, [0, 0]), 'its header names 0 channels'],
    ['a short format', file(chunk('fmt ', [1, 0])), 'its "fmt " chunk has 2 bytes'],
    ['no format', file(chunk('data', [0, 0])), 'its "data" chunk comes before a "fmt " chunk'],
    ['no sound', file(chunk('fmt ', format({}))), 'the file ends before the "data" chunk'],
    [
      'cut in the format',
      file(chunk('fmt ', format({}))).slice(0, 30),
      'the file ends before the "data" chunk',
    ],
    ['only the first 12 bytes', file(), 'the file ends before the "data" chunk'],
  ])('%s', (_, bytes, message) => {
    const error = codeOf(bytes)
    expect(error.code).toBe('audio/damaged')
    expect(error.message).toContain(message)
  })

  it('any cut of a whole file gives the beginning of the sound or one of our errors', () => {
    const whole = wav(
      { channels: 2, bits: 24 },
      Array.from({ length: 60 }, (_, i) => i),
    )
    const all = samplesOf(whole)
    for (let length = 0; length < whole.length; length++) {
      const part = whole.slice(0, length)
      try {
        expect(samplesOf(part)).toEqual(all.slice(0, Math.max(0, Math.floor((length - 44) / 6))))
      } catch (error) {
        expect([length, (error as { code?: string }).code]).toEqual([
          length,
          length < 12 ? 'audio/unsupported-format' : 'audio/damaged',
        ])
        expect(length).toBeLessThan(44)
      }
    }
  })
})
