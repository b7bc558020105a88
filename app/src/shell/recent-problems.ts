/** What went wrong since the page was opened, for the diagnostics that a person may copy. It is kept nowhere and sent nowhere. */

/** Enough to see what began it. */
const KEPT = 20

const problems: string[] = []

export function rememberProblem(error: unknown): void {
  const { code, message } = (typeof error === 'object' && error !== null ? error : { message: error }) as {
    readonly code?: unknown
    readonly message?: unknown
  }
  problems.push([code, message].filter((part) => part !== undefined).join(': '))
  if (problems.length > KEPT) problems.shift()
}

/** Oldest first. */
export const recentProblems = (): readonly string[] => [...problems]

/** Remembers what nothing caught. */
export function watchProblems(): void {
  addEventListener('error', ({ error, message }) => rememberProblem(error ?? message))
  addEventListener('unhandledrejection', ({ reason }) => rememberProblem(reason))
}
