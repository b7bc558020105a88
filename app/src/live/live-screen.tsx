import { t } from '../texts/texts.ts'

export function LiveScreen() {
  return <h1>{t('shell.live')}</h1>
}
