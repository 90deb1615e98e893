import { isIP } from 'node:net';

/**
 * Returns the address under which a client is counted: the peer's, or with `trustedProxies` n the n-th entry of
 * X-Forwarded-For from its end, since the client itself may have written everything before it. If that entry is not an
 * address, the peer's counts. IPv6 counts by its /64, all of which belongs to one client.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const forwarded = trustedProxies > 0 ? (forwardedFor ?? '').split(',').at(-trustedProxies) : undefined;
  const address = addressIn(forwarded) ?? addressIn(peer) ?? 'unknown';
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Returns the address in a proxy's entry, which may include a port; undefined if there is none. */
function addressIn(text: string | undefined): string | undefined {
  const bare = text
    ?.trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*$/, '')
    .toLowerCase();
  return bare !== undefined && isIP(bare) !== 0 ? bare : undefined;
}
