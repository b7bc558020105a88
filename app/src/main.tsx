import './shell/own-scripts.ts'
import { render } from 'preact'
import { App } from './app.tsx'
import { focusHeadings, keepDocumentState } from './shell/document-state.ts'
import { takeLaunchedFiles } from './shell/launched-files.ts'
import { watchProblems } from './shell/recent-problems.ts'
import { startServiceWorker } from './shell/service-worker-link.ts'
import './styles/base.css'
import './styles/frame.css'
import './styles/controls.css'

watchProblems()
keepDocumentState()
const root = document.getElementById('app')
// First the service worker, so that it sees what the engine asks for; on every visit but the first it is there already.
if (root && (await startServiceWorker())) {
  focusHeadings()
  takeLaunchedFiles()
  render(<App />, root)
}
