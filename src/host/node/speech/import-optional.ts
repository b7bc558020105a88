/** Packages that a person may have installed beside this one; none is needed. */

/** @returns Undefined where the package is not installed, or has no build for this system. */
export async function importOptional(name: string): Promise<unknown> {
  try {
    return await import(name)
  } catch {
    return undefined
  }
}
