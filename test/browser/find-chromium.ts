/** A browser of the Chromium family on this machine; its version must be one that playwright-core can talk to. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'msedge']
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/**
 * `CHROME_PATH`, or a known name on the path. Undefined when there is none, in which case the tests of the browser are
 * left out, unless `ONSIGHT_REQUIRE_BROWSER` is 1.
 */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env['CHROME_PATH']
  if (named) return named
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  const found = [...onPath, ...PLACES].find(isExecutable)
  if (found === undefined && env['ONSIGHT_REQUIRE_BROWSER'] === '1')
    throw new Error(
      `ONSIGHT_REQUIRE_BROWSER is 1, but there is no ${NAMES.join(', ')} on the path and no CHROME_PATH.`,
    )
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
