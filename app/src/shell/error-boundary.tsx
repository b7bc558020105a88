import { Component, type ComponentChildren } from 'preact'
import { t } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'
import { rememberProblem } from './recent-problems.ts'

interface ErrorBoundaryProps {
  readonly children: ComponentChildren
}

/** Keeps the frame when a screen breaks. Give it a new `key` for another screen. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { error?: unknown }> {
  override state: { error?: unknown } = {}

  override componentDidCatch(error: unknown): void {
    rememberProblem(error)
    this.setState({ error })
  }

  override render({ children }: ErrorBoundaryProps) {
    const { error } = this.state
    if (error === undefined) return children
    return (
      <>
        <h1>{t('shell.broken')}</h1>
        <Notice
          kind="error"
          actions={
            <>
              <Button
                kind="primary"
                label={t('shell.showAgain')}
                onClick={() => this.setState({ error: undefined })}
              />
              <Button label={t('shell.reload')} onClick={() => location.reload()} />
            </>
          }
        >
          <p>{t('shell.brokenText')}</p>
          <details>
            <summary>{t('shell.brokenDetails')}</summary>
            <pre>{error instanceof Error ? error.message : String(error)}</pre>
          </details>
        </Notice>
      </>
    )
  }
}
