/**
 * The policy of each document and of the workers that it starts. Written into the built documents for hosts that send no
 * headers; `onsight serve` and the service worker send it as a header too, which is what workers go by.
 */

/** What may be asked for by fetch: nothing but the own origin, or what a person chose to connect to. */
const CONNECT = {
  private: "'self'",
  // Local addresses are named since http is for them only: Ollama, LM Studio and `onsight serve` listen there.
  connected: "'self' https: http://localhost:* http://127.0.0.1:*",
} as const

export type PolicyName = keyof typeof CONNECT

export const contentSecurityPolicy = (name: PolicyName): string =>
  [
    "default-src 'none'",
    // The kernels are WebAssembly; scripts made of text stay forbidden.
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "manifest-src 'self'",
    `connect-src ${CONNECT[name]}`,
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    // The one policy of shell/own-scripts.ts: addresses of the own origin, for `new Worker`.
    'trusted-types default',
  ].join('; ')
