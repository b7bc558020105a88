/**
 * Trusted Types: scripts of workers come from the own origin only, and nothing else becomes a script or markup. The policy
 * is the default one since the library starts its workers by plain addresses. Import this first, in the page and in
 * every worker that starts workers.
 */

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(address: string): string | null }): unknown
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: PolicyFactory }

/** Not by `origin` of the address alone: `blob:` addresses have it too. */
trustedTypes?.createPolicy('default', {
  createScriptURL: (address) => {
    const { origin, protocol, href } = new URL(address, location.href)
    return origin === location.origin && protocol === location.protocol ? href : null
  },
})
