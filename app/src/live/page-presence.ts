/** Whether somebody sees the page: all the ways in which browsers say so. */

export interface PagePresence {
  readonly onHidden: () => void
  /** May come more than once. */
  readonly onShown: () => void
}

/** @returns Ends it. */
export function watchPresence({ onHidden, onShown }: PagePresence): () => void {
  const onVisibility = (): void => (document.hidden ? onHidden() : onShown())
  // iPhones may come back without a change of visibility.
  const onBack = (): void => {
    if (!document.hidden) onShown()
  }
  document.addEventListener('visibilitychange', onVisibility)
  addEventListener('pagehide', onHidden)
  addEventListener('focus', onBack)
  addEventListener('pageshow', onBack)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    removeEventListener('pagehide', onHidden)
    removeEventListener('focus', onBack)
    removeEventListener('pageshow', onBack)
  }
}
