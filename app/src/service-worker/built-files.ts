/** What the build tells the service worker of itself; written in by build/service-worker-build.ts. */

export interface BuiltFile {
  /** Relative to the folder of the app. */
  readonly url: string
  /** Null where the name itself changes with the content. */
  readonly revision: string | null
}

export interface BuiltFiles {
  /** Needed to start: kept before the worker takes over. */
  readonly shell: readonly BuiltFile[]
  /** Large, or of use only to some: kept when first asked for, and in the background. The bundled model is among them. */
  readonly later: readonly BuiltFile[]
}

declare const ONSIGHT_BUILT_FILES: BuiltFiles

export const builtFiles: BuiltFiles = ONSIGHT_BUILT_FILES
