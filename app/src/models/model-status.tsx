/** What stands in the way of an answer, on every screen: a model that failed, is elsewhere, or was replaced. */
import { EngineError } from 'onsight'
import { settings } from '../settings/settings.ts'
import { Button } from '../shell/button.tsx'
import { Notice } from '../shell/notice.tsx'
import { t } from '../texts/texts.ts'
import { BUNDLED } from './create-model-service.ts'
import { failureText, noticeText } from './failure-texts.ts'
import { currentModel } from './model-service.ts'
import { shownName } from './shown-name.ts'

export function ModelStatus() {
  const state = currentModel.state.value
  const notice = currentModel.notice.value
  return (
    <>
      {state.state === 'failed' && <FailedModel name={state.name} error={state.error} />}
      {notice && (
        <Notice
          kind="warning"
          actions={
            <>
              <a class="button button-normal" href="#/models">
                {t('models.seeModels')}
              </a>
              <Button
                kind="plain"
                label={t('models.putAway')}
                onClick={() => {
                  currentModel.notice.value = undefined
                }}
              />
            </>
          }
        >
          <p>{noticeText(notice)}</p>
          <Details error={notice.error} />
        </Notice>
      )}
    </>
  )
}

function FailedModel({ name, error }: { readonly name: string; readonly error: unknown }) {
  const isElsewhere = EngineError.isInstance(error) && error.code === 'backend/open-elsewhere'
  const useBundled = (): void => {
    settings.model.value = BUNDLED
  }
  return (
    <Notice
      kind={isElsewhere ? 'warning' : 'error'}
      actions={
        <>
          {isElsewhere ? (
            <Button
              kind="primary"
              label={t('models.takeOver')}
              onClick={() => void currentModel.takeOver()}
            />
          ) : (
            <Button kind="primary" label={t('models.tryAgain')} onClick={() => currentModel.reload()} />
          )}
          {name !== BUNDLED && <Button label={t('models.useBundled')} onClick={useBundled} />}
        </>
      }
    >
      {!isElsewhere && <p>{t('models.failedTitle', { name: shownName(name) })}</p>}
      <p>{failureText(error, name)}</p>
      {!isElsewhere && <Details error={error} />}
    </Notice>
  )
}

/** The engine's own words: they name the file and what was expected of it. */
function Details({ error }: { readonly error: unknown }) {
  if (!(error instanceof Error)) return null
  return (
    <details>
      <summary>{t('models.details')}</summary>
      <pre>{error.message}</pre>
    </details>
  )
}
