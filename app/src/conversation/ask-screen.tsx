import { t } from '../texts/texts.ts'

export function AskScreen() {
  return <h1>{t('shell.ask')}</h1>
}
