import { t } from '../texts/texts.ts'
import { focusHeading } from './document-state.ts'

/** Past the navigation, for the keyboard. A button, since the hash of the address names the screen. */
export function SkipLink() {
  return (
    <button type="button" class="skip-link" onClick={focusHeading}>
      {t('shell.skip')}
    </button>
  )
}
