import { t } from '../texts/texts.ts'

export function ModelsScreen() {
  return <h1>{t('shell.models')}</h1>
}
