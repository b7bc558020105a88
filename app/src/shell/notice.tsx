import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

interface NoticeProps {
  readonly kind?: 'info' | 'warning' | 'error'
  readonly children: ComponentChildren
  /** Buttons and links: what to do about it. */
  readonly actions?: ComponentChildren
}

/** Something to know, with what to do about it. Screen readers meet it where it stands; the announcer tells what is urgent. */
export function Notice({ kind = 'info', children, actions }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`}>
      <Icon name={kind === 'info' ? 'info' : 'warning'} />
      <div class="notice-text">{children}</div>
      {actions && <div class="notice-actions">{actions}</div>}
    </div>
  )
}
