import { t } from '../texts/texts.ts'

export function SettingsScreen() {
  return <h1>{t('shell.settings')}</h1>
}
