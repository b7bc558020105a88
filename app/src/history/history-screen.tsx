import { t } from '../texts/texts.ts'

export function HistoryScreen() {
  return <h1>{t('shell.history')}</h1>
}
