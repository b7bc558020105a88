import { settings } from '../settings/settings.ts'
import { t } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'
import { screen } from './screens.ts'

/** One sentence for somebody new: what the model that came with the page can do, and where better ones are. */
export function FirstVisit() {
  const { model, welcomed } = settings
  if (welcomed.value || model.value !== 'tiny' || screen.value !== 'ask') return null
  const dismiss = (): void => {
    welcomed.value = true
  }
  return (
    <Notice
      actions={
        <>
          <a class="button button-normal" href="#/models">
            {t('shell.betterModels')}
          </a>
          <Button kind="plain" label={t('shell.understood')} onClick={dismiss} />
        </>
      }
    >
      <p>
        {t('shell.private')} {t('shell.tinyModel')}
      </p>
    </Notice>
  )
}
