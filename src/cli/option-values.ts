/** Values of options as numbers and texts. commander puts the option's name and what was found before the message. */
import { InvalidArgumentError } from 'commander'

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const expected = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return (text) => {
    const value = NUMBER.test(text) ? Number(text) : Number.NaN
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`Expected a whole number ${expected}.`)
    }
    return value
  }
}

/** Whole numbers of at least `min`, separated by commas. */
export function wholeNumbers(min: number): (text: string) => readonly number[] {
  const parse = wholeNumber(min)
  return (text) => text.split(',').map((part) => parse(part.trim()))
}

/** A number that `isAllowed`; `expected` completes "Expected a number …". */
export function numberThat(
  expected: string,
  isAllowed: (value: number) => boolean,
): (text: string) => number {
  return (text) => {
    const value = NUMBER.test(text) ? Number(text) : Number.NaN
    if (!Number.isFinite(value) || !isAllowed(value)) {
      throw new InvalidArgumentError(`Expected a number ${expected}.`)
    }
    return value
  }
}

const BYTES = /^(\d+(?:\.\d+)?)\s*(B|kB|KB|MB|GB|KiB|MiB|GiB)?$/
const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
}

/** `400MB`, `1.5 GB`, `512MiB`; without a unit bytes. */
export function byteCount(text: string): number {
  const [, number, unit = 'B'] = BYTES.exec(text.trim()) ?? []
  const bytes = Math.floor(Number(number) * (UNITS[unit] ?? Number.NaN))
  if (!Number.isSafeInteger(bytes) || bytes < 1) {
    throw new InvalidArgumentError('Expected a number of bytes, such as 400MB or 1.5GB.')
  }
  return bytes
}

/** Not empty. */
export function someText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected some text.')
  return text
}

/** For options that may be given several times. */
export function collectTexts(text: string, before: readonly string[] | undefined): readonly string[] {
  if (text === '') throw new InvalidArgumentError('Expected at least one character.')
  return [...(before ?? []), text]
}

/** Separated by commas; none is empty or comes twice. */
export function differentTexts(text: string): readonly string[] {
  const texts = text.split(',').map((part) => part.trim())
  if (texts.includes('') || new Set(texts).size < texts.length) {
    throw new InvalidArgumentError('Expected different texts, separated by commas.')
  }
  return texts
}
