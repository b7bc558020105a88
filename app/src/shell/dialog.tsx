import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { t } from '../texts/texts.ts'
import { Button } from './button.tsx'

interface DialogProps {
  readonly isOpen: boolean
  readonly title: string
  /** The person left it: Escape, the close button, or the back gesture of a phone. */
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons of the last row; the one that does the least harm comes first. */
  readonly actions?: ComponentChildren
}

/** A modal dialog: the browser's own, which keeps the focus inside and gives it back to where it was. */
export function Dialog({ isOpen, title, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = element.current
    if (isOpen && dialog && !dialog.open) dialog.showModal()
    if (!isOpen && dialog?.open) dialog.close()
  }, [isOpen])
  return (
    <dialog ref={element} class="dialog" aria-labelledby={titleId} onClose={onClose}>
      {isOpen && (
        <>
          <div class="dialog-head">
            <h2 id={titleId}>{title}</h2>
            <Button kind="plain" icon="close" iconOnly label={t('shell.close')} onClick={onClose} />
          </div>
          <div class="dialog-body">{children}</div>
          {actions && <div class="dialog-actions">{actions}</div>}
        </>
      )}
    </dialog>
  )
}
