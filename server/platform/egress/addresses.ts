import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An entry of the allow-list that is neither a host nor a CIDR; `message` contains it. */
export class AllowListError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AllowListError';
  }
}

/** Addresses that an operator permits in addition to public ones. */
export type AllowList = {
  hosts: ReadonlySet<string>;
  networks: readonly (readonly [Address, number])[];
};

/** The only IPv6 range assigned to the public network (RFC 4291 §2.4); addresses outside of it are refused. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/**
 * The public translation prefix (RFC 6052): on an IPv6-only network with DNS64, every IPv4 host has such an address.
 */
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];
/** An address in a public range that belongs to the Azure host itself and serves a machine's configuration. */
const azureHost = '168.63.129.16';

/** Parses hosts (`mcp.internal`), addresses and CIDRs (`10.1.0.0/16`). Throws AllowListError for the first bad entry. */
export function parseAllowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>();
  const networks: [Address, number][] = [];
  for (const entry of entries) {
    const network = parseNetwork(entry);
    if (network !== null) networks.push(network);
    else hosts.add(parseHost(entry));
  }
  return { hosts, networks };
}

function parseNetwork(entry: string): [Address, number] | null {
  const bare = entry.startsWith('[') && entry.endsWith(']') ? entry.slice(1, -1) : entry;
  if (bare.includes('%')) return null;
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return [ipaddr.IPv4.parse(bare), 32];
  if (ipaddr.IPv6.isValid(bare)) return [ipaddr.IPv6.parse(bare), 128];
  const ipv6 = bare.includes(':');
  if (ipv6 ? ipaddr.IPv6.isValidCIDR(bare) : ipaddr.IPv4.isValidCIDRFourPartDecimal(bare)) {
    return ipaddr.parseCIDR(bare);
  }
  return null;
}

function parseHost(entry: string): string {
  const host = URL.canParse(`http://${entry}`) ? hostOf(new URL(`http://${entry}`)) : '';
  // An entry that the URL parser does not read as a plain name (a port, a path, 127.1 for 127.0.0.1) is refused.
  const name = /^[^\s/:@?#[\]*]+$/.test(entry) && host !== '' && !ipaddr.isValid(host);
  if (!name)
    throw new AllowListError(`"${entry}" is neither a host name nor an address nor a CIDR such as 10.1.0.0/16`);
  return host;
}

/** Returns the host of a URL as rules compare it: without brackets and without the trailing dot of a name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/**
 * Returns whether an address (in the form of DNS or of the URL parser) may be connected to: it is public, or allowed.
 */
export function mayConnect(address: string, allowed: AllowList): boolean {
  const [bare = ''] = address.split('%');
  if (isIP(bare) === 0) return false;
  const given = parse(bare);
  // ::ffff:10.0.0.1 is only another spelling: the packets go to 10.0.0.1 over IPv4.
  const target = given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress() ? given.toIPv4Address() : given;
  return isPublic(target) || isWithin(given, allowed) || isWithin(target, allowed);
}

function parse(address: string): Address {
  // ipaddr.js reads ::10.0.0.1 (IPv4-compatible, another network) as ::ffff:10.0.0.1; the URL parser writes it in hex.
  const dotted = address.includes(':') && address.includes('.');
  return ipaddr.parse(dotted ? hostOf(new URL(`http://[${address}]`)) : address);
}

function isWithin(address: Address, { networks }: AllowList): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits]));
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && address.toString() !== azureHost;
  if (address.match(nat64)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(globalUnicast) && address.range() === 'unicast';
}
