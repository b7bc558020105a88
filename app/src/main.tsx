import './shell/own-scripts.ts'
import { render } from 'preact'
import { App } from './app.tsx'
import { focusHeadings, keepDocumentState } from './shell/document-state.ts'
import { watchProblems } from './shell/recent-problems.ts'
import './styles/base.css'
import './styles/frame.css'
import './styles/controls.css'

watchProblems()
keepDocumentState()
focusHeadings()

const root = document.getElementById('app')
if (root) render(<App />, root)
