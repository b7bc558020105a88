export type KernelBuild = 'relaxed' | 'baseline'

/** A module with one function that uses the very instruction, i32x4.relaxed_dot_i8x16_i7x16_add_s. */
const RELAXED_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32,
  1, 32, 2, 253, 147, 2, 11,
])

/** The fastest build that this engine accepts. */
export function supportedBuild(): KernelBuild {
  return WebAssembly.validate(RELAXED_PROBE) ? 'relaxed' : 'baseline'
}

/** Compiles a build for shared memory, or for a memory of its own. */
export async function compileKernels(build: KernelBuild, shared: boolean): Promise<WebAssembly.Module> {
  const { KERNELS } = await (build === 'relaxed'
    ? import('./generated/relaxed-kernels.ts')
    : import('./generated/baseline-kernels.ts'))
  const bytes = await inflate(decodeBase64(KERNELS))
  if (!shared) importUnsharedMemory(bytes)
  return WebAssembly.compile(bytes)
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/**
 * Clears the "shared" bit of the memory import. One bit is all that differs between the builds: atomic instructions
 * are valid on unshared memories, and a single thread never waits.
 */
function importUnsharedMemory(bytes: Uint8Array): void {
  const name = new TextEncoder().encode('\x03env\x06memory\x02')
  for (let at = 8; at < bytes.length - name.length; at++) {
    if (name.every((byte, index) => bytes[at + index] === byte)) {
      const limits = at + name.length
      bytes[limits] = (bytes[limits] ?? 0) & ~2
      return
    }
  }
}
