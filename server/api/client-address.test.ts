import { expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const peer = '198.51.100.7';

test.each<[string, string | undefined, number, string]>([
  ['without a trusted proxy the header is the client’s own word', '192.0.2.1', 0, peer],
  ['one proxy: the last entry', '192.0.2.9, 192.0.2.1', 1, '192.0.2.1'],
  ['two proxies: the last but one', '192.0.2.9, 192.0.2.1, 10.0.0.1', 2, '192.0.2.1'],
  ['fewer entries than proxies', '192.0.2.1', 2, peer],
  ['no header', undefined, 1, peer],
  ['an empty entry', '192.0.2.1, ', 1, peer],
  ['no address', '192.0.2.1, unknown', 1, peer],
  ['a long text', 'x'.repeat(10_000), 1, peer],
  ['an address with a port', '192.0.2.1:4711', 1, '192.0.2.1'],
  ['IPv4 in IPv6', '::ffff:192.0.2.1', 1, '192.0.2.1'],
  ['IPv6: its /64', '2001:db8:1:2:3:4:5:6', 1, '2001:db8:1:2::/64'],
  ['IPv6 in capitals, with a port', '[2001:DB8:1:2::6]:443', 1, '2001:db8:1:2::/64'],
  ['IPv6 in short', '2001:db8::1', 1, '2001:db8:0:0::/64'],
])('%s', (_, forwardedFor, proxies, address) => {
  expect(clientAddress(peer, forwardedFor, proxies)).toBe(address);
});

test('a peer that has disconnected has no address', () =>
  expect(clientAddress(undefined, undefined, 0)).toBe('unknown'));
