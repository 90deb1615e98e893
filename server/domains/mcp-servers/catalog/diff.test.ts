import { describe, expect, it } from 'vitest';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { catalogChecksum, describeDiff, diffCatalogs } from './diff.ts';

const tool = (name: string, more: Partial<McpTool> = {}): McpTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

describe('the difference between two catalogs', () => {
  it('is everything without a previous catalog', () => {
    const diff = diffCatalogs(null, [tool('a'), tool('b')]);
    expect(diff).toEqual({ previous_version: null, added: ['a', 'b'], removed: [], changed: [] });
    expect(describeDiff(diff)).toBe('2 added');
  });

  it('names added, removed and changed tools, with the fields', () => {
    const before = [tool('a'), tool('b', { description: 'old' }), tool('c', { title: 'C' })];
    const after = [
      tool('b', { description: 'new', inputSchema: { type: 'object', required: ['q'] } }),
      tool('c'),
      tool('d'),
    ];
    const diff = diffCatalogs({ version: 3, tools: before }, after);
    expect(diff).toEqual({
      previous_version: 3,
      added: ['d'],
      removed: ['a'],
      changed: [
        { name: 'b', fields: ['description', 'input_schema'] },
        { name: 'c', fields: ['title'] },
      ],
    });
    expect(describeDiff(diff)).toBe('1 added, 1 removed, 2 changed');
  });

  it('is empty for the same tools with their keys in another order, and the checksum is the same', () => {
    const a = [tool('a', { inputSchema: { type: 'object', required: ['x'] } })];
    const b = [{ inputSchema: { required: ['x'], type: 'object' }, name: 'a' } as McpTool];
    expect(describeDiff(diffCatalogs({ version: 1, tools: a }, b))).toBe('nothing');
    expect(catalogChecksum(a)).toBe(catalogChecksum(b));
    expect(catalogChecksum(a)).not.toBe(catalogChecksum([tool('a')]));
  });
});
