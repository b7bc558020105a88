import { AskScreen } from './conversation/ask-screen.tsx'
import { HistoryScreen } from './history/history-screen.tsx'
import { LiveScreen } from './live/live-screen.tsx'
import { ModelStatus } from './models/model-status.tsx'
import { ModelsScreen } from './models/models-screen.tsx'
import { SettingsScreen } from './settings/settings-screen.tsx'
import { ErrorBoundary } from './shell/error-boundary.tsx'
import { FirstVisit } from './shell/first-visit.tsx'
import { Navigation } from './shell/navigation.tsx'
import { type Screen, screen } from './shell/screens.ts'
import { SkipLink } from './shell/skip-link.tsx'
import { UpdateNotice } from './shell/update-notice.tsx'

const SCREEN_VIEWS: Readonly<Record<Screen, () => preact.JSX.Element>> = {
  ask: AskScreen,
  live: LiveScreen,
  history: HistoryScreen,
  models: ModelsScreen,
  settings: SettingsScreen,
}

export function App() {
  const View = SCREEN_VIEWS[screen.value]
  return (
    <div class="shell">
      <SkipLink />
      <Navigation />
      <main id="main" class={`shell-main shell-main-${screen.value}`}>
        <UpdateNotice />
        <FirstVisit />
        <ModelStatus />
        <ErrorBoundary key={screen.value}>
          <View />
        </ErrorBoundary>
      </main>
    </div>
  )
}
