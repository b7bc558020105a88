/**
 * Scalar encoding of the types whose scales are searched: Q4_K, Q5_K, Q6_K and IQ4_NL, without calibration data.
 *
 * Methods: ggml-org/ggml `src/ggml-quants.c`.
 */
import { nearestIq4Code } from './code-tables.ts'
import { fitScaleAndMin, fitSixBitScale, fitTableScale, type OffsetSearch } from './fit-scale.ts'
import { halfAt } from './half.ts'
import { packKScales } from './k-scales.ts'
import { storeHalf } from './store-half.ts'

const SUPER_BLOCK = 256
const Q4_SEARCH: OffsetSearch = { levels: 15, start: -1, step: 0.1, steps: 20 }
const Q5_SEARCH: OffsetSearch = { levels: 31, start: -0.5, step: 0.1, steps: 15 }

export function encodeQ4K(values: Float32Array, out: Uint8Array): void {
  const codes = new Uint8Array(SUPER_BLOCK)
  for (let block = 0, at = 0; block < values.length; block += SUPER_BLOCK, at += 144) {
    encodeOffsetSuperBlock(values, block, Q4_SEARCH, out, at, codes)
    packNibbles(codes, out, at + 16)
  }
}

export function encodeQ5K(values: Float32Array, out: Uint8Array): void {
  const codes = new Uint8Array(SUPER_BLOCK)
  for (let block = 0, at = 0; block < values.length; block += SUPER_BLOCK, at += 176) {
    encodeOffsetSuperBlock(values, block, Q5_SEARCH, out, at, codes)
    for (let l = 0; l < 32; l++) {
      let highBits = 0
      for (let part = 0; part < 8; part++) highBits |= ((codes[part * 32 + l] as number) >> 4) << part
      out[at + 16 + l] = highBits
    }
    packNibbles(codes, out, at + 48)
  }
}

/** Writes d, dmin and the packed scales (16 bytes) of one super-block, and its 256 codes to `codes`. */
function encodeOffsetSuperBlock(
  values: Float32Array,
  block: number,
  search: OffsetSearch,
  out: Uint8Array,
  at: number,
  codes: Uint8Array,
): void {
  const weights = new Float64Array(32)
  const fits = Array.from({ length: 8 }, (_, part) => {
    weighByMagnitude(values, block + part * 32, weights)
    return fitScaleAndMin(values, block + part * 32, 32, weights, search)
  })
  const maxScale = Math.max(...fits.map((fit) => fit.scale))
  const maxMin = Math.max(...fits.map((fit) => fit.min))
  storeHalf(maxScale / 63, out, at)
  storeHalf(maxMin / 63, out, at + 2)
  const scales = Uint8Array.from(fits, (fit) => sixBit(fit.scale, maxScale))
  const mins = Uint8Array.from(fits, (fit) => sixBit(fit.min, maxMin))
  packKScales(scales, mins, out, at + 4)

  // The codes are chosen for the scales as they are stored.
  const d = halfAt(out, at)
  const dmin = halfAt(out, at + 2)
  for (let part = 0; part < 8; part++) {
    const scale = Math.fround(d * (scales[part] as number))
    const min = Math.fround(dmin * (mins[part] as number))
    const from = part * 32
    for (let i = from; i < from + 32; i++) {
      const code = scale === 0 ? 0 : Math.round(((values[block + i] as number) + min) / scale)
      codes[i] = Math.max(0, Math.min(search.levels, code))
    }
  }
}

/** Large elements matter more: root mean square plus magnitude. */
function weighByMagnitude(values: Float32Array, from: number, weights: Float64Array): void {
  let sumOfSquares = 0
  for (let i = 0; i < 32; i++) sumOfSquares += (values[from + i] as number) ** 2
  const rootMeanSquare = Math.sqrt(sumOfSquares / 32)
  for (let i = 0; i < 32; i++) weights[i] = rootMeanSquare + Math.abs(values[from + i] as number)
}

function sixBit(value: number, max: number): number {
  return max > 0 ? Math.max(0, Math.min(63, Math.round((63 * value) / max))) : 0
}

/** Low nibbles: even sub-blocks of 32 into the low half, odd ones into the high half. */
function packNibbles(codes: Uint8Array, out: Uint8Array, at: number): void {
  for (let pair = 0; pair < 4; pair++) {
    for (let l = 0; l < 32; l++) {
      const low = codes[pair * 64 + l] as number
      const high = codes[pair * 64 + 32 + l] as number
      out[at + pair * 32 + l] = (low & 15) | ((high & 15) << 4)
    }
  }
}

export function encodeQ6K(values: Float32Array, out: Uint8Array): void {
  const codes = new Uint8Array(SUPER_BLOCK)
  for (let block = 0, at = 0; block < values.length; block += SUPER_BLOCK, at += 210) {
    const fits = Array.from({ length: 16 }, (_, part) => fitSixBitScale(values, block + part * 16))
    const extreme = fits.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0)
    // The scale of largest magnitude becomes -128, so that all 8 bits are used.
    storeHalf(extreme === 0 ? 0 : extreme / -128, out, at + 208)
    const d = halfAt(out, at + 208)
    for (let part = 0; part < 16; part++) {
      const fit = fits[part] as number
      const scale = extreme === 0 ? 0 : Math.min(127, Math.round((-128 * fit) / extreme))
      out[at + 192 + part] = scale
      const step = Math.fround(d * scale)
      for (let i = part * 16; i < part * 16 + 16; i++) {
        const level = step === 0 ? 0 : Math.round((values[block + i] as number) / step)
        codes[i] = Math.max(-32, Math.min(31, level)) + 32
      }
    }
    packSixBit(codes, out, at)
  }
}

function packSixBit(codes: Uint8Array, out: Uint8Array, at: number): void {
  for (let half = 0; half < 2; half++) {
    for (let l = 0; l < 32; l++) {
      const [a, b, c, d] = [0, 32, 64, 96].map((run) => codes[half * 128 + run + l] as number) as [
        number,
        number,
        number,
        number,
      ]
      out[at + half * 64 + l] = (a & 15) | ((c & 15) << 4)
      out[at + half * 64 + 32 + l] = (b & 15) | ((d & 15) << 4)
      out[at + 128 + half * 32 + l] = (a >> 4) | ((b >> 4) << 2) | ((c >> 4) << 4) | ((d >> 4) << 6)
    }
  }
}

export function encodeIq4Nl(values: Float32Array, out: Uint8Array): void {
  for (let block = 0, at = 0; block < values.length; block += 32, at += 18) {
    storeHalf(fitTableScale(values, block), out, at)
    const d = halfAt(out, at)
    const toCode = (value: number): number => (d === 0 ? ZERO_CODE : nearestIq4Code(value / d))
    for (let j = 0; j < 16; j++) {
      const low = toCode(values[block + j] as number)
      const high = toCode(values[block + 16 + j] as number)
      out[at + 2 + j] = low | (high << 4)
    }
  }
}

/** The table has no zero; 1 is nearest. */
const ZERO_CODE = 8
