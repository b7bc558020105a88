/** What a page knows of the device that it runs on, for `fitDevice`. */
import type { DeviceFacts } from '../../../hub/fit-device.ts'
import { estimateStorage } from './storage-space.ts'

interface KnownNavigator {
  readonly deviceMemory?: number
  readonly userAgent?: string
  readonly platform?: string
  /** Pages only. */
  readonly maxTouchPoints?: number
}

/**
 * Asks the browser. Call it in a page: an iPad calls itself a Macintosh, and only its touch points, which workers cannot
 * see, tell the two apart.
 */
export async function readDeviceFacts(): Promise<DeviceFacts> {
  const { deviceMemory, ...known }: KnownNavigator = pick(globalThis.navigator as KnownNavigator | undefined)
  const { quotaBytes, usedBytes } = await estimateStorage()
  return {
    deviceMemory,
    isIsolated: globalThis.crossOriginIsolated === true,
    storageQuotaBytes: quotaBytes,
    storageUsedBytes: usedBytes,
    isIos: isIos(known),
  }
}

/** A navigator's values lie on its prototype. */
function pick(navigator: KnownNavigator | undefined): KnownNavigator {
  const { deviceMemory, userAgent, platform, maxTouchPoints } = navigator ?? {}
  return {
    ...(deviceMemory !== undefined && { deviceMemory }),
    ...(userAgent !== undefined && { userAgent }),
    ...(platform !== undefined && { platform }),
    ...(maxTouchPoints !== undefined && { maxTouchPoints }),
  }
}

export function isIos({ userAgent = '', platform = '', maxTouchPoints = 0 }: KnownNavigator): boolean {
  return /iPhone|iPad|iPod/.test(userAgent) || (platform === 'MacIntel' && maxTouchPoints > 1)
}
