import { t } from '../texts/texts.ts'
import { SCREENS, screen } from './screens.ts'

export function Navigation() {
  return (
    <nav aria-label={t('shell.navigation')}>
      {SCREENS.map((name) => (
        <a key={name} href={`#/${name}`} aria-current={screen.value === name ? 'page' : undefined}>
          {t(`shell.${name}`)}
        </a>
      ))}
    </nav>
  )
}
