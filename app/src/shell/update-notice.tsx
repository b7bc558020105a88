import { t } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'
import { isUpdateReady, takeUpdate } from './service-worker-link.ts'

/** Stands until the person agrees: an answer that runs is not cut by a new version. */
export function UpdateNotice() {
  if (!isUpdateReady.value) return null
  return (
    <Notice actions={<Button label={t('shell.update')} icon="again" onClick={takeUpdate} />}>
      <p>{t('shell.updateReady')}</p>
    </Notice>
  )
}
