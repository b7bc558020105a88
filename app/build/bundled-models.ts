/** The model that comes with the page, at `models/tiny/` beside the document. */
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const NAME = 'tiny'
/** How it was made and what it was tested on: of no use to a page. */
const NOT_SERVED = ['things.txt', 'training.json']

export function bundledModels(modelsFolder: string): Plugin {
  const folder = join(modelsFolder, NAME)
  const names = readdirSync(folder).filter((name) => !NOT_SERVED.includes(name))
  return {
    name: 'onsight:bundled-models',
    configureServer({ middlewares }) {
      middlewares.use(`/models/${NAME}`, (request, response) => {
        const name = (request.url ?? '').replace(/^\//, '').replace(/\?.*$/, '')
        const path = join(folder, name)
        if (!names.includes(name) || !existsSync(path)) {
          response.writeHead(404).end()
          return
        }
        response.writeHead(200, {
          'content-type': name.endsWith('.json') ? 'application/json' : 'application/octet-stream',
          'content-length': statSync(path).size,
          'cross-origin-resource-policy': 'same-origin',
        })
        createReadStream(path).pipe(response)
      })
    },
    generateBundle() {
      for (const name of names) {
        this.emitFile({
          type: 'asset',
          fileName: `models/${NAME}/${name}`,
          source: readFileSync(join(folder, name)),
        })
      }
    },
  }
}
