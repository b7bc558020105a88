/** How much memory a model may take on this device. An estimate: browsers say little. */

export interface DeviceFacts {
  /** GiB; Chromium only. */
  readonly deviceMemory?: number
  readonly userAgent: string
  readonly platform?: string
  readonly maxTouchPoints?: number
}

/** Of what the device has, so much is for the page: the system and other programs need the rest. */
const SHARE = 0.5
/** iOS ends a page at about 1.5 GB, and pictures and sound need some of that. */
const IOS_BYTES = 1e9

/** Bytes; undefined where the browser does not tell what there is. */
export function deviceMemoryLimit(device: DeviceFacts): number | undefined {
  if (isAppleMobile(device)) return IOS_BYTES
  return device.deviceMemory === undefined ? undefined : Math.round(device.deviceMemory * SHARE * 2 ** 30)
}

/** iPads call themselves Macs. */
function isAppleMobile({ userAgent, platform, maxTouchPoints = 0 }: DeviceFacts): boolean {
  return /iPhone|iPad|iPod/.test(userAgent) || (platform === 'MacIntel' && maxTouchPoints > 1)
}
