/** Which addresses belong to the public internet: all but those that standards set aside. */
import { BlockList, isIP } from 'node:net'

/** IANA's registries of special-purpose addresses, RFC 6890 and its successors. */
const SPECIAL: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carriers' shared space
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, and the metadata services of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // old 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
]

/** The only range of IPv6 that is given out. */
const GLOBAL_V6 = ['2000::', 3] as const
/** Parts of it that are set aside, or that carry an IPv4 address which may be private. */
const SPECIAL_V6: readonly (readonly [address: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
]

const special = new BlockList()
for (const [address, prefix] of SPECIAL) special.addSubnet(address, prefix, 'ipv4')
for (const [address, prefix] of SPECIAL_V6) special.addSubnet(address, prefix, 'ipv6')
const globalV6 = new BlockList()
globalV6.addSubnet(...GLOBAL_V6, 'ipv6')

/** False for what is no address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return globalV6.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}
