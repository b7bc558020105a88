/** Writes the content security policy into the built documents. In development Vite's client needs more than it allows. */
import type { Plugin } from 'vite'
import { contentSecurityPolicy } from './content-security-policy.ts'

export function documentPolicy(): Plugin {
  return {
    name: 'onsight:document-policy',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { path }) => [
        {
          tag: 'meta',
          attrs: {
            'http-equiv': 'Content-Security-Policy',
            content: contentSecurityPolicy(path.endsWith('connected.html') ? 'connected' : 'private'),
          },
          // Before anything that it rules.
          injectTo: 'head-prepend',
        },
      ],
    },
  }
}
