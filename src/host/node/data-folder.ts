/** Where models are kept: they are data, not cache, so no cleaner may take them. */
import { homedir } from 'node:os'
import { posix, resolve, win32 } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** `ONSIGHT_HOME`, else the folder for an application's data on this system. */
export function dataFolder(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  const chosen = env['ONSIGHT_HOME']
  if (chosen) return resolve(chosen)
  switch (platform) {
    case 'win32':
      return win32.join(env['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local'), 'onsight')
    case 'darwin':
      return posix.join(home, 'Library', 'Application Support', 'onsight')
    default: {
      const data = env['XDG_DATA_HOME']
      // The specification has relative paths ignored.
      return posix.join(data?.startsWith('/') ? data : posix.join(home, '.local', 'share'), 'onsight')
    }
  }
}
