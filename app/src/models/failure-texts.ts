/** Failures of models in plain words, with what to do next. */
import { EngineError } from 'onsight'
import { type TextKey, t } from '../texts/texts.ts'
import type { ModelNotice } from './model-notice.ts'
import { shownName } from './shown-name.ts'

const NOTICES: Readonly<Record<ModelNotice['reason'], TextKey>> = {
  missing: 'models.missing',
  damaged: 'models.damaged',
  'too-large': 'models.tooLarge',
  crashed: 'models.crashed',
}

export function noticeText({ reason, name }: ModelNotice): string {
  return t(NOTICES[reason], { name: shownName(name) })
}

const FAILURES: Readonly<Record<string, TextKey>> = {
  'backend/open-elsewhere': 'models.elsewhere',
  'backend/lost': 'models.lost',
  'backend/worker-failed': 'models.noWorker',
  'file/read-failed': 'models.unreachable',
  'file/not-found': 'models.unreachable',
}

/** Why the model `name` is not there. */
export function failureText(error: unknown, name: string): string {
  const key = EngineError.isInstance(error) ? FAILURES[error.code] : undefined
  return t(key ?? 'models.otherFailure', { name: shownName(name) })
}
