import { t } from '../texts/texts.ts'
import { Icon } from './icon.tsx'
import { SCREENS, screen } from './screens.ts'

/** At the foot of phones, at the side of anything wider. */
export function Navigation() {
  return (
    <nav class="shell-nav" aria-label={t('shell.navigation')}>
      <ul>
        {SCREENS.map((name) => (
          <li key={name}>
            <a href={`#/${name}`} aria-current={screen.value === name ? 'page' : undefined}>
              <Icon name={name} />
              <span>{t(`shell.${name}`)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
