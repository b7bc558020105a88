import { AskScreen } from './conversation/ask-screen.tsx'
import { HistoryScreen } from './history/history-screen.tsx'
import { LiveScreen } from './live/live-screen.tsx'
import { ModelsScreen } from './models/models-screen.tsx'
import { SettingsScreen } from './settings/settings-screen.tsx'
import { Navigation } from './shell/navigation.tsx'
import { type Screen, screen } from './shell/screens.ts'

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
    <>
      <Navigation />
      <main id="main">
        <View />
      </main>
    </>
  )
}
