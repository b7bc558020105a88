interface ProgressBarProps {
  readonly label: string
  /** From 0 to `max`; undefined while nobody knows. */
  readonly value: number | undefined
  readonly max: number
  /** In words, such as "12 of 40 MB". */
  readonly text?: string
}

export function ProgressBar({ label, value, max, text }: ProgressBarProps) {
  const known = value !== undefined && max > 0
  return (
    <div class="progress">
      <progress aria-label={label} max={known ? max : 1} {...(known && { value: Math.min(value, max) })} />
      {text && <span class="progress-text">{text}</span>}
    </div>
  )
}
