/** Whether a model will run on a device: arithmetic over what is known before a download. An estimate, never a promise. */
import type { CatalogueEntry } from './catalogue.ts'

export interface DeviceFacts {
  /** `navigator.deviceMemory`, in gigabytes of 2^30 bytes; Chromium only, and rounded. */
  readonly deviceMemory?: number | undefined
  /** `crossOriginIsolated`: several threads. */
  readonly isIsolated: boolean
  /** What the browser means to give to this site, and what of it is taken (`navigator.storage.estimate()`). */
  readonly storageQuotaBytes?: number | undefined
  readonly storageUsedBytes?: number | undefined
  /** iPhone or iPad: all browsers there share Safari's limits. */
  readonly isIos: boolean
}

export type FitReason =
  /** Nothing known speaks against it. */
  | 'within-budget'
  /** The size of the weights is not known; `hub.preview` asks for it. */
  | 'size-unknown'
  /** iOS ends pages that take more than about a gigabyte. */
  | 'ios-memory'
  /** More than half of the device's memory. */
  | 'device-memory'
  /** More than a 32-bit WebAssembly memory can hold. */
  | 'address-space'
  /** More than the browser says that it gives. Some report a fixed number, so it may fit all the same. */
  | 'storage-quota'

export interface DeviceFit {
  readonly verdict: 'fits' | 'does-not-fit' | 'unknown'
  readonly reason: FitReason
  /** Memory while it runs: weights, keys and values, and 15 %. Undefined when the size is unknown. */
  readonly neededBytes: number | undefined
  /** What that was compared with: memory, or room for `storage-quota`; undefined where there is no limit. */
  readonly availableBytes: number | undefined
  /** The page is not isolated: one thread, so answers take several times as long. */
  readonly hasOneThread: boolean
}

/** A conversation about a picture with room for several questions. */
const CONTEXT_TOKENS = 2048
/** Work space, the page and the compiled code: 15 %. */
const OVERHEAD = 1.15
/** WebKit ends a page's process at 1.5 GB (WebKit/WebKit#49472), and the page itself and its pictures take their part. */
const IOS_BUDGET_BYTES = 1e9
/** The other half is the system's, the browser's and that of other pages. */
const DEVICE_SHARE = 0.5
const GIGABYTE = 2 ** 30
/** 65,536 pages. */
const ADDRESS_SPACE_BYTES = 2 ** 32

/**
 * Judges a model of the catalogue, or any other by the size that `hub.preview` tells (`{ approximateBytes: totalBytes }`).
 *
 * @example
 * const { verdict, reason } = fitDevice(entry, await readDeviceFacts())
 */
export function fitDevice(
  {
    approximateBytes,
    cacheBytesPerToken = 0,
  }: Pick<CatalogueEntry, 'approximateBytes' | 'cacheBytesPerToken'>,
  facts: DeviceFacts,
): DeviceFit {
  const hasOneThread = !facts.isIsolated
  if (approximateBytes === undefined) {
    const nothing = { neededBytes: undefined, availableBytes: undefined }
    return { verdict: 'unknown', reason: 'size-unknown', ...nothing, hasOneThread }
  }
  const neededBytes = Math.ceil((approximateBytes + cacheBytesPerToken * CONTEXT_TOKENS) * OVERHEAD)
  const { reason, availableBytes } = memoryLimit(facts)
  if (neededBytes > availableBytes)
    return { verdict: 'does-not-fit', reason, neededBytes, availableBytes, hasOneThread }
  const room = roomOf(facts)
  if (room !== undefined && approximateBytes > room) {
    const reason = 'storage-quota'
    return { verdict: 'does-not-fit', reason, neededBytes, availableBytes: room, hasOneThread }
  }
  return { verdict: 'fits', reason: 'within-budget', neededBytes, availableBytes, hasOneThread }
}

/** The narrowest of the limits that hold for this device. */
function memoryLimit({ deviceMemory, isIos }: DeviceFacts): { reason: FitReason; availableBytes: number } {
  if (isIos) return { reason: 'ios-memory', availableBytes: IOS_BUDGET_BYTES }
  const share = deviceMemory === undefined ? Number.POSITIVE_INFINITY : deviceMemory * GIGABYTE * DEVICE_SHARE
  return share < ADDRESS_SPACE_BYTES
    ? { reason: 'device-memory', availableBytes: share }
    : { reason: 'address-space', availableBytes: ADDRESS_SPACE_BYTES }
}

function roomOf({ storageQuotaBytes, storageUsedBytes = 0 }: DeviceFacts): number | undefined {
  return storageQuotaBytes === undefined ? undefined : Math.max(0, storageQuotaBytes - storageUsedBytes)
}
