/*
 * Discrete Fourier transform of real frames in double precision, for even lengths whose half is a product of 2, 4 and
 * 5: the 400 of Whisper, the 256 of Silero, the 512 of our own gate.
 *
 * Two neighbouring samples count as one complex number, so that a transform of half the length does (Numerical
 * Recipes 12.3). It is Stockham's: every pass reads one buffer and writes the other in order, without bit reversal.
 */

interface Pass {
  readonly radix: 2 | 4 | 5
  /** Butterflies of one transform. */
  readonly count: number
  /** Transforms that are interleaved. */
  readonly stride: number
  /** cos and -sin, (count, radix - 1) pairs. */
  readonly twiddles: Float64Array
}

const COS72 = Math.cos((2 * Math.PI) / 5)
const COS144 = Math.cos((4 * Math.PI) / 5)
const SIN72 = Math.sin((2 * Math.PI) / 5)
const SIN144 = Math.sin((4 * Math.PI) / 5)

/** Power spectra of frames of one length. Buffers are allocated once. */
export class RealFft {
  readonly #half: number
  readonly #passes: readonly Pass[]
  /** cos and -sin of 2 pi k / length, (half + 1) pairs. */
  readonly #splitting: Float64Array
  readonly #buffers: readonly [Float64Array, Float64Array]

  /** Throws a `RangeError` for lengths with other factors: they are written in our own code. */
  constructor(length: number) {
    this.#half = length / 2
    this.#passes = planPasses(this.#half)
    this.#splitting = Float64Array.from({ length: length + 2 }, (_, i) => {
      const angle = (2 * Math.PI * (i >> 1)) / length
      return i % 2 === 0 ? Math.cos(angle) : -Math.sin(angle)
    })
    this.#buffers = [new Float64Array(length), new Float64Array(length)]
  }

  /** Writes |X[k]|^2 for k = 0 to length / 2 into `power`. `frame` holds `length` samples and stays as it is. */
  power(frame: Float64Array, power: Float64Array): void {
    let [from, to] = this.#buffers
    from.set(frame)
    for (const pass of this.#passes) {
      RUN[pass.radix](from, to, pass)
      ;[from, to] = [to, from]
    }
    const half = this.#half
    for (let k = 0; k <= half; k++) {
      const a = 2 * (k % half)
      const b = 2 * ((half - k) % half)
      const re = from[a] as number
      const im = from[a + 1] as number
      const mirroredRe = from[b] as number
      const mirroredIm = -(from[b + 1] as number)
      const oddRe = im - mirroredIm
      const oddIm = mirroredRe - re
      const cos = this.#splitting[2 * k] as number
      const sin = this.#splitting[2 * k + 1] as number
      const sumRe = re + mirroredRe + oddRe * cos - oddIm * sin
      const sumIm = im + mirroredIm + oddRe * sin + oddIm * cos
      power[k] = (sumRe * sumRe + sumIm * sumIm) / 4
    }
  }
}

function planPasses(length: number): Pass[] {
  const passes: Pass[] = []
  let stride = 1
  for (let rest = length; rest > 1; ) {
    const radix = ([4, 5, 2] as const).find((factor) => rest % factor === 0)
    if (radix === undefined) throw new RangeError(`No Fourier transform of ${2 * length} samples.`)
    const count = rest / radix
    const twiddles = new Float64Array(2 * count * (radix - 1))
    let at = 0
    for (let p = 0; p < count; p++) {
      for (let k = 1; k < radix; k++) {
        twiddles[at++] = Math.cos((2 * Math.PI * p * k) / rest)
        twiddles[at++] = -Math.sin((2 * Math.PI * p * k) / rest)
      }
    }
    passes.push({ radix, count, stride, twiddles })
    stride *= radix
    rest = count
  }
  return passes
}

type RunPass = (from: Float64Array, to: Float64Array, pass: Pass) => void

const RUN: Readonly<Record<Pass['radix'], RunPass>> = { 2: runRadix2, 4: runRadix4, 5: runRadix5 }

/** Writes (re, im) times the twiddle at `w`. */
function store(
  to: Float64Array,
  at: number,
  re: number,
  im: number,
  twiddles: Float64Array,
  w: number,
): void {
  const cos = twiddles[w] as number
  const sin = twiddles[w + 1] as number
  to[at] = re * cos - im * sin
  to[at + 1] = re * sin + im * cos
}

function runRadix2(from: Float64Array, to: Float64Array, { count, stride, twiddles }: Pass): void {
  const step = 2 * stride
  for (let p = 0; p < count; p++) {
    for (let q = 0; q < step; q += 2) {
      const a = q + step * p
      const b = a + step * count
      const ar = from[a] as number
      const ai = from[a + 1] as number
      const br = from[b] as number
      const bi = from[b + 1] as number
      const out = q + step * 2 * p
      to[out] = ar + br
      to[out + 1] = ai + bi
      store(to, out + step, ar - br, ai - bi, twiddles, 2 * p)
    }
  }
}

function runRadix4(from: Float64Array, to: Float64Array, { count, stride, twiddles }: Pass): void {
  const step = 2 * stride
  const jump = step * count
  for (let p = 0; p < count; p++) {
    for (let q = 0; q < step; q += 2) {
      const a = q + step * p
      const b = a + jump
      const c = b + jump
      const d = c + jump
      const sumRe = (from[a] as number) + (from[c] as number)
      const sumIm = (from[a + 1] as number) + (from[c + 1] as number)
      const differenceRe = (from[a] as number) - (from[c] as number)
      const differenceIm = (from[a + 1] as number) - (from[c + 1] as number)
      const otherSumRe = (from[b] as number) + (from[d] as number)
      const otherSumIm = (from[b + 1] as number) + (from[d + 1] as number)
      const otherRe = (from[b] as number) - (from[d] as number)
      const otherIm = (from[b + 1] as number) - (from[d + 1] as number)
      const out = q + step * 4 * p
      to[out] = sumRe + otherSumRe
      to[out + 1] = sumIm + otherSumIm
      store(to, out + step, differenceRe + otherIm, differenceIm - otherRe, twiddles, 6 * p)
      store(to, out + 2 * step, sumRe - otherSumRe, sumIm - otherSumIm, twiddles, 6 * p + 2)
      store(to, out + 3 * step, differenceRe - otherIm, differenceIm + otherRe, twiddles, 6 * p + 4)
    }
  }
}

function runRadix5(from: Float64Array, to: Float64Array, { count, stride, twiddles }: Pass): void {
  const step = 2 * stride
  const jump = step * count
  for (let p = 0; p < count; p++) {
    for (let q = 0; q < step; q += 2) {
      const a = q + step * p
      const ar = from[a] as number
      const ai = from[a + 1] as number
      const b = a + jump
      const c = b + jump
      const d = c + jump
      const e = d + jump
      const outerRe = (from[b] as number) + (from[e] as number)
      const outerIm = (from[b + 1] as number) + (from[e + 1] as number)
      const innerRe = (from[c] as number) + (from[d] as number)
      const innerIm = (from[c + 1] as number) + (from[d + 1] as number)
      const outerRe2 = (from[b] as number) - (from[e] as number)
      const outerIm2 = (from[b + 1] as number) - (from[e + 1] as number)
      const innerRe2 = (from[c] as number) - (from[d] as number)
      const innerIm2 = (from[c + 1] as number) - (from[d + 1] as number)
      const re1 = ar + COS72 * outerRe + COS144 * innerRe
      const im1 = ai + COS72 * outerIm + COS144 * innerIm
      const re2 = ar + COS144 * outerRe + COS72 * innerRe
      const im2 = ai + COS144 * outerIm + COS72 * innerIm
      const turnRe1 = SIN72 * outerRe2 + SIN144 * innerRe2
      const turnIm1 = SIN72 * outerIm2 + SIN144 * innerIm2
      const turnRe2 = SIN144 * outerRe2 - SIN72 * innerRe2
      const turnIm2 = SIN144 * outerIm2 - SIN72 * innerIm2
      const out = q + step * 5 * p
      to[out] = ar + outerRe + innerRe
      to[out + 1] = ai + outerIm + innerIm
      store(to, out + step, re1 + turnIm1, im1 - turnRe1, twiddles, 8 * p)
      store(to, out + 2 * step, re2 + turnIm2, im2 - turnRe2, twiddles, 8 * p + 2)
      store(to, out + 3 * step, re2 - turnIm2, im2 + turnRe2, twiddles, 8 * p + 4)
      store(to, out + 4 * step, re1 - turnIm1, im1 + turnRe1, twiddles, 8 * p + 6)
    }
  }
}
