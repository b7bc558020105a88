/** The functions and constants that chat templates expect beyond the language itself, as Transformers provides them. */

/** Numbers that `range` may make in one rendering, so that a hostile template ends. Real ones count messages. */
const MAX_RANGE_NUMBERS = 100_000

/** Thrown by `raise_exception`: the template itself refuses the conversation. */
export class TemplateRefusal extends Error {}

/** `now` is the local time that `strftime_now` prints. */
export function createTemplateGlobals(now: Date): Record<string, unknown> {
  let rangeNumbers = 0
  return {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    raise_exception: (message: unknown) => {
      throw new TemplateRefusal(String(message))
    },
    strftime_now: (format: string) => formatTime(now, format),
    range: (first: number, second?: number, step = 1): number[] => {
      const [start, stop] = second === undefined ? [0, first] : [first, second]
      if (step === 0) throw new Error('range() needs a step other than 0')
      const count = Math.max(0, Math.ceil((stop - start) / step))
      rangeNumbers += count
      if (rangeNumbers > MAX_RANGE_NUMBERS)
        throw new Error(`range() made more than ${MAX_RANGE_NUMBERS} numbers`)
      return Array.from({ length: count }, (_, index) => start + index * step)
    },
  }
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** The directives of C's strftime that templates use; others stay as they are written. `%-d` drops the leading zero. */
function formatTime(time: Date, format: string): string {
  const hour12 = time.getHours() % 12 === 0 ? 12 : time.getHours() % 12
  const numbers: Record<string, [value: number, digits: number]> = {
    Y: [time.getFullYear(), 4],
    y: [time.getFullYear() % 100, 2],
    m: [time.getMonth() + 1, 2],
    d: [time.getDate(), 2],
    H: [time.getHours(), 2],
    I: [hour12, 2],
    M: [time.getMinutes(), 2],
    S: [time.getSeconds(), 2],
  }
  const names: Record<string, string> = {
    B: MONTHS[time.getMonth()] ?? '',
    b: (MONTHS[time.getMonth()] ?? '').slice(0, 3),
    A: DAYS[time.getDay()] ?? '',
    a: (DAYS[time.getDay()] ?? '').slice(0, 3),
    p: time.getHours() < 12 ? 'AM' : 'PM',
    '%': '%',
  }
  return format.replace(/%(-?)([A-Za-z%])/g, (directive: string, dash: string, letter: string) => {
    const number = numbers[letter]
    if (number !== undefined) return String(number[0]).padStart(dash === '' ? number[1] : 1, '0')
    return names[letter] ?? directive
  })
}
