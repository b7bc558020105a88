// The compiler writes plain files; in a clone npx runs the command's file itself, which must be executable.
import { chmodSync } from 'node:fs'

chmodSync(new URL('../dist/cli/main.js', import.meta.url), 0o755)
