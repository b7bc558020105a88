/** Sizes and times as people read them. */

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** `0 B`, `999 B`, `1.5 kB`, `1.71 GB`: powers of 1000, three digits. */
export function formatBytes(byteLength: number): string {
  let value = byteLength
  let unit = 0
  // 999.5 would be shown as 1000.
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(digits)} ${UNITS[unit]}`
}

/** `45 s`, `3 min`, `2 h 5 min` */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 90) return `${whole} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 90) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
