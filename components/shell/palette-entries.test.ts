import { Workflow } from 'lucide-react';
import { describe, expect, test } from 'vitest';
import { type Entry, findEntries } from './palette-entries.ts';

const entry = (group: string, label: string, more: Partial<Entry> = {}): Entry => ({
  id: `${group} ${label}`,
  group,
  label,
  icon: Workflow,
  run: () => undefined,
  ...more,
});
const ENTRIES = [
  entry('On this page', 'Publish'),
  entry('On this page', 'Archive', { keywords: 'Actions for Order to invoice' }),
  ...Array.from({ length: 9 }, (_, at) => entry('Workflows', `Order ${at}`, { keywords: `0190-${at}` })),
  entry('Go to', 'API keys'),
  entry('Agents', 'Research', { searchedOnly: true }),
];
const labelsFor = (search: string) =>
  findEntries(ENTRIES, search).map(({ group, entries }) => [group, ...entries.map(({ label }) => label)]);

describe('the palette', () => {
  test('lists the first entries of each group before a search, except those that only a search finds', () =>
    expect(labelsFor('')).toEqual([
      ['On this page', 'Publish', 'Archive'],
      ['Workflows', 'Order 0', 'Order 1', 'Order 2', 'Order 3', 'Order 4', 'Order 5'],
      ['Go to', 'API keys'],
    ]));

  test.each([
    ['keys api', [['Go to', 'API keys']]],
    ['reserch', [['Agents', 'Research']]],
    ['agents', [['Agents', 'Research']]],
    ['0190-7', [['Workflows', 'Order 7']]],
    ['invoice archive', [['On this page', 'Archive']]],
    ['nothing of the kind', []],
  ])('finds %j', (search, groups) => expect(labelsFor(search)).toEqual(groups));

  test('shows the group with the best match first', () => {
    const [first] = findEntries([entry('A', 'The order of things', {}), entry('B', 'Order')], 'order');
    expect(first?.group).toBe('B');
  });
});
