import { expect, test } from 'vitest';
import type { Member } from '../../orchestrator/ports/cluster.ts';
import { NodeAddresses } from './node-addresses.ts';

const member = (id: string, url: string): Member => ({
  id,
  url,
  level: 1,
  version: '1',
  leads: true,
  isLeading: false,
  shards: [],
  isHeard: true,
});
const node = { id: 'own', url: 'http://10.0.0.1:3000' };

test('the other nodes are known by their addresses, as long as they are there', () => {
  let members = [member('own', node.url), member('b', 'http://10.0.0.2:3000'), member('c', 'http://[2001:db8::7]:80')];
  const addresses = new NodeAddresses({ node, members: () => members });
  const known = ['10.0.0.1', '10.0.0.2', '2001:db8:0:0::/64', '10.0.0.3'];
  expect(known.map(address => addresses.has(address))).toEqual([false, true, true, false]);
  members = [member('own', node.url)];
  expect(known.map(address => addresses.has(address))).toEqual([false, false, false, false]);
});

test('a name is resolved', async () => {
  const addresses = new NodeAddresses({ node, members: () => [member('b', 'http://localhost:3000')] });
  await expect.poll(() => addresses.has('127.0.0.1') || addresses.has('0:0:0:0::/64')).toBe(true);
});
