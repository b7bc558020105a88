/** One web app manifest per language: only a few browsers read several languages from one. */
import type { Plugin } from 'vite'
import { SHARE_PATH } from '../src/service-worker/shared-pictures.ts'
import { shellTexts } from '../src/texts/shell.ts'
import type { Language } from '../src/texts/text-table.ts'

const PICTURES = {
  'image/jpeg': ['.jpg', '.jpeg'],
  'image/png': ['.png'],
  'image/webp': ['.webp'],
  'image/gif': ['.gif'],
  'image/avif': ['.avif'],
}

const icon = (name: string, sizes: string, purpose: 'any' | 'maskable') => ({
  src: `icons/${name}`,
  sizes,
  type: name.endsWith('.svg') ? 'image/svg+xml' : 'image/png',
  purpose,
})

function manifestOf(language: Language): object {
  const text = (key: keyof typeof shellTexts): string => shellTexts[key][language]
  const shortcut = (screen: 'live' | 'history') => ({
    name: text(`shell.${screen}`),
    url: `./#/${screen}`,
    icons: [icon('icon-192.png', '192x192', 'any')],
  })
  return {
    name: 'Onsight',
    short_name: 'Onsight',
    description: text('shell.description'),
    lang: language === 'zh' ? 'zh-Hans' : 'en',
    dir: 'ltr',
    start_url: './',
    scope: './',
    display: 'standalone',
    theme_color: '#0a5c6b',
    background_color: '#faf9f7',
    categories: ['accessibility', 'utilities', 'photo'],
    icons: [
      icon('icon-192.png', '192x192', 'any'),
      icon('icon-512.png', '512x512', 'any'),
      icon('icon-maskable-512.png', '512x512', 'maskable'),
      icon('icon.svg', 'any', 'any'),
    ],
    shortcuts: [shortcut('live'), shortcut('history')],
    share_target: {
      action: SHARE_PATH,
      method: 'POST',
      enctype: 'multipart/form-data',
      params: { files: [{ name: 'pictures', accept: Object.keys(PICTURES) }] },
    },
    file_handlers: [{ action: './#/ask', accept: PICTURES }],
    launch_handler: { client_mode: 'focus-existing' },
  }
}

export function webManifests(): Plugin {
  return {
    name: 'onsight:web-manifests',
    generateBundle() {
      for (const language of ['en', 'zh'] as const) {
        this.emitFile({
          type: 'asset',
          fileName: `manifest.${language}.webmanifest`,
          source: JSON.stringify(manifestOf(language)),
        })
      }
    },
    transformIndexHtml: {
      order: 'post',
      // Not by the bundler, which would give it another name.
      handler: (_html, { server }) =>
        server
          ? []
          : [
              {
                tag: 'link',
                attrs: { rel: 'manifest', href: './manifest.en.webmanifest' },
                injectTo: 'head',
              },
            ],
    },
  }
}
