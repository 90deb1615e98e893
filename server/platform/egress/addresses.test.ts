import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AllowListError, mayConnect, parseAllowList } from './addresses.ts';

const nothing = parseAllowList([]);

/** IANA's special-purpose registries (2026-11), the unassigned parts of IPv6, and known metadata addresses. */
const refused = {
  ipv4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
  ipv6: [
    '::/3', // unspecified, loopback, compatible, mapped (judged as IPv4 below), translated, NAT64 local, discard
    '2001::/23', // Teredo, benchmarks, ORCHID and the like
    '2001:db8::/32',
    '2002::/16',
    '2620:4f:8000::/48',
    '3fff::/20',
    '4000::/2',
    '8000::/1', // ULA, link-local, site-local, multicast
  ],
};
/** Two lists, because Node's BlockList compares IPv4 addresses with IPv6 ranges as if the addresses were mapped. */
function blocked(kind: 'ipv4' | 'ipv6') {
  const list = new BlockList();
  for (const cidr of refused[kind]) {
    const [network = '', bits] = cidr.split('/');
    list.addSubnet(network, Number(bits), kind);
  }
  return (address: string) => list.check(address, kind);
}
const isBlocked = { ipv4: blocked('ipv4'), ipv6: blocked('ipv6') };

const byte = fc.nat(255);
const anyIpv4 = fc.tuple(byte, byte, byte, byte);
/** Addresses at and around the ends of a refused range, where off-by-one errors would show. */
const edges = fc.constantFrom(...refused.ipv4).chain(cidr => {
  const [network = '', bits] = cidr.split('/');
  const start = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return fc.constantFrom(start - 1, start, start + 1, start + size - 1, start + size).map(number => {
    const at = (number + 2 ** 32) % 2 ** 32;
    return [at >>> 24, (at >>> 16) & 255, (at >>> 8) & 255, at & 255] as [number, number, number, number];
  });
});
const ipv4 = fc.oneof(anyIpv4, edges);
const word = fc.nat(0xffff);
const hex = (...words: number[]) => words.map(value => value.toString(16)).join(':');
const words = (of: readonly number[]) => [((of[0] ?? 0) << 8) | (of[1] ?? 0), ((of[2] ?? 0) << 8) | (of[3] ?? 0)];

describe('every address is treated as the registries say', () => {
  test('IPv4', () => {
    fc.assert(
      fc.property(ipv4, parts => {
        const address = parts.join('.');
        expect(mayConnect(address, nothing), address).toBe(!isBlocked.ipv4(address));
      }),
      { numRuns: 5000 },
    );
  });

  test('IPv4 written as IPv6: mapped and NAT64 like the IPv4 address; compatible, translated, 6to4, Teredo and local NAT64 never', () => {
    fc.assert(
      fc.property(ipv4, parts => {
        const dotted = parts.join('.');
        const fine = !isBlocked.ipv4(dotted);
        const low = hex(...words(parts));
        for (const same of [`::ffff:${dotted}`, `::ffff:${low}`, `0:0:0:0:0:FFFF:${dotted}`, `64:ff9b::${low}`]) {
          expect(mayConnect(same, nothing), same).toBe(fine);
        }
        for (const never of [
          `::${low}`,
          `::${dotted}`,
          `::ffff:0:${low}`,
          `2002:${low}::1`,
          `2001:0:${low}::1`,
          `2001::${low}`,
          `64:ff9b:1::${low}`,
          `64:ff9b:1:${low}::`,
        ]) {
          expect(mayConnect(never, nothing), never).toBe(false);
        }
      }),
    );
  });

  test('IPv6', () => {
    const first = fc.oneof(
      word,
      fc.constantFrom(
        0,
        0x64,
        0x100,
        0x2001,
        0x2002,
        0x2620,
        0x3fff,
        0x3ffe,
        0x5f00,
        0xfc00,
        0xfd00,
        0xfe80,
        0xfec0,
        0xff02,
      ),
    );
    const second = fc.oneof(word, fc.constantFrom(0, 0xdb8, 0x1ff, 0x200, 0x4f, 0xff9b, 0x0fff, 0x1000));
    const third = fc.oneof(word, fc.constantFrom(0x8000, 0x8001));
    fc.assert(
      fc.property(first, second, third, fc.array(word, { minLength: 5, maxLength: 5 }), (a, b, c, rest) => {
        const address = hex(a, b, c, ...rest);
        expect(mayConnect(address, nothing), address).toBe(!isBlocked.ipv6(address));
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    '169.254.169.254', // metadata of AWS, Azure, Google, DigitalOcean
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle
    '168.63.129.16', // Azure's host
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1%eth0',
    '127.0.0.1%lo',
    '',
    'localhost',
    '1.2.3.4.5',
  ])('%s is refused', address => expect(mayConnect(address, nothing)).toBe(false));

  test.each(['1.1.1.1', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001::64', '64:ff9b::1.1.1.1'])(
    '%s is public',
    address => expect(mayConnect(address, nothing)).toBe(true),
  );
});

describe('an allow-list', () => {
  test('permits only the addresses that it names, in any spelling', () => {
    const allowed = parseAllowList([
      '10.1.0.0/16',
      '127.0.0.1',
      '[::1]',
      'fd12::/16',
      'MCP.Internal.',
      'bücher.example',
    ]);
    for (const address of [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '127.0.0.1',
      '::ffff:7f00:1',
      '::1',
      'fd12:3::4',
      '8.8.8.8',
    ]) {
      expect(mayConnect(address, allowed), address).toBe(true);
    }
    for (const address of [
      '10.2.0.0',
      '127.0.0.2',
      '::2',
      'fd13::1',
      '64:ff9b::10.1.2.3',
      '2002:a01:203::1',
      '::10.1.2.3',
    ]) {
      expect(mayConnect(address, allowed), address).toBe(false);
    }
    expect([...allowed.hosts]).toEqual(['mcp.internal', 'xn--bcher-kva.example']);
  });

  test.each([
    'http://host',
    'host:80',
    'host/path',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.1',
    '0x7f.0.0.1',
    '2130706433',
    '127.1',
    '::1/129',
    'fe80::1%eth0',
    '*.internal',
    'a b',
    'user@host',
    '[::1',
    '',
    '.',
  ])('does not accept "%s"', entry => expect(() => parseAllowList([entry])).toThrow(AllowListError));
});
