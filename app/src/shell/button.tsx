import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon' | 'class' | 'children'> & {
  /** `primary` is the one thing that a screen is for; `plain` is without a border. Default `normal`. */
  readonly kind?: 'primary' | 'normal' | 'plain' | 'danger'
  readonly icon?: IconName
  /** What it does. With `iconOnly` it is not shown, but read and shown on hover. */
  readonly label: string
  readonly iconOnly?: boolean
  readonly class?: string
  readonly children?: ComponentChildren
}

/** A button of the app: at least as large as a finger, with its label always there for those who cannot see the icon. */
export function Button({
  kind = 'normal',
  icon,
  label,
  iconOnly = false,
  class: extra = '',
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`button button-${kind} ${iconOnly ? 'button-icon-only' : ''} ${extra}`}
      {...(iconOnly && { 'aria-label': label, title: label })}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
      {children}
    </button>
  )
}
