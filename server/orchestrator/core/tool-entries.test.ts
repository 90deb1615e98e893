import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contradictions, effectiveEntry, NO_APPROVALS, type ToolEntry, withWorkspace } from './tool-entries.ts';

const entry = (tools: string[], approval?: ToolEntry['approval'], on_lost?: ToolEntry['on_lost']): ToolEntry => ({
  tools,
  approval,
  on_lost,
});
const approvalOf = (entries: ToolEntry[], tool: string) => effectiveEntry(entries, tool)?.approval;

test.each<[string, ToolEntry[], string | undefined]>([
  ['an entry that names it counts before one for all', [entry(['*'], 'auto'), entry(['note'], 'deny')], 'deny'],
  ['an entry that names it may also allow it', [entry(['*'], 'deny'), entry(['note'], 'auto')], 'auto'],
  ['deny before ask', [entry(['note'], 'ask'), entry(['note'], 'deny')], 'deny'],
  ['ask before auto', [entry(['note'], 'auto'), entry(['note'], 'ask')], 'ask'],
  ['the default before auto', [entry(['note'], 'auto'), entry(['note'])], undefined],
  ['ask before the default', [entry(['*']), entry(['*'], 'ask')], 'ask'],
  ['a name beside the wildcard is a name', [entry(['*', 'note'], 'deny'), entry(['note'], 'auto')], 'deny'],
])('%s, in either order', (_, entries, expected) => {
  expect(approvalOf(entries, 'note')).toBe(expected);
  expect(approvalOf(entries.toReversed(), 'note')).toBe(expected);
});

test('a tool without an entry is not offered', () => {
  expect(effectiveEntry([entry(['note'], 'auto')], 'other')).toBeUndefined();
  expect(effectiveEntry([], 'other')).toBeUndefined();
});

test('settings for all tools are marked as such, and the more careful setting for a lost call counts', () => {
  expect(effectiveEntry([entry(['*'], 'auto')], 'note')).toMatchObject({ isWildcard: true, onLost: undefined });
  expect(effectiveEntry([entry(['*'], 'auto'), entry(['note'], 'auto', 'retry')], 'note')).toMatchObject({
    isWildcard: false,
    onLost: 'retry',
  });
  expect(effectiveEntry([entry(['note'], 'auto', 'retry'), entry(['note'])], 'note')?.onLost).toBeUndefined();
  expect(effectiveEntry([entry(['note'], 'auto', 'retry'), entry(['note'], 'auto', 'ask')], 'note')?.onLost).toBe(
    'ask',
  );
});

test('contradicting entries of a tool are reported once for each tool, with the effective setting', () => {
  expect(contradictions([entry(['*'], 'auto'), entry(['a', 'note'], 'deny')])).toEqual([
    { tool: 'a', at: [1, 0], effective: 'deny' },
    { tool: 'note', at: [1, 1], effective: 'deny' },
  ]);
  expect(contradictions([entry(['*'], 'ask'), entry(['*'])])).toEqual([{ tool: '*', at: [0, 0], effective: 'ask' }]);
  expect(contradictions([entry(['*'], 'auto'), entry(['note'], 'auto')])).toEqual([]);
  expect(contradictions([entry(['a'], 'auto'), entry(['b'], 'deny')])).toEqual([]);
});

const STRICT = ['auto', undefined, 'ask', 'deny'] as const;
const someEntry = fc.record({
  tools: fc.uniqueArray(fc.constantFrom('*', 'a', 'b', 'c'), { minLength: 1 }),
  approval: fc.constantFrom(...STRICT),
});

test('whatever the entries and their order: names before the wildcard, and no entry of the same rank is stricter', () => {
  fc.assert(
    fc.property(fc.array(someEntry, { maxLength: 6 }), fc.constantFrom('a', 'b', 'c'), (entries, tool) => {
      const named = entries.filter(({ tools }) => tools.includes(tool));
      const ranked = named.length > 0 ? named : entries.filter(({ tools }) => tools.includes('*'));
      const found = effectiveEntry(entries, tool);
      expect(found === undefined).toBe(ranked.length === 0);
      const most = Math.max(-1, ...ranked.map(({ approval }) => STRICT.indexOf(approval)));
      if (found !== undefined) expect(STRICT.indexOf(found.approval)).toBe(most);
      expect(effectiveEntry(entries.toReversed(), tool)).toEqual(found);
      expect(contradictions(entries).length > 0 || new Set(ranked.map(each => each.approval)).size < 2).toBe(true);
    }),
  );
});

const approval = fc.constantFrom('auto' as const, 'ask' as const, 'deny' as const, null);
const someWorkspace = fc.record({ read: approval, write: approval, risky: approval });
const someTool = fc.record({ readOnly: fc.boolean(), destructive: fc.boolean(), openWorld: fc.boolean() });
const given = fc.record({
  approval: fc.constantFrom(...STRICT),
  isWildcard: fc.boolean(),
  onLost: fc.constantFrom(undefined, 'ask' as const, 'retry' as const),
});

test('whatever a workspace decides: no entry becomes laxer, none is laxer than what fits, and a default is like a wildcard', () => {
  fc.assert(
    fc.property(given, someTool, someWorkspace, (entry, tool, workspace) => {
      const effective = withWorkspace(entry, tool, workspace);
      const strictness = (of: (typeof STRICT)[number]) => STRICT.indexOf(of);
      const fitting = [
        tool.readOnly ? workspace.read : workspace.write,
        tool.destructive || tool.openWorld ? workspace.risky : null,
      ].flatMap(each => each ?? []);
      if (entry.approval !== undefined)
        expect(strictness(effective.approval)).toBeGreaterThanOrEqual(strictness(entry.approval));
      for (const least of fitting) expect(strictness(effective.approval)).toBeGreaterThanOrEqual(strictness(least));
      expect([entry.approval, ...fitting]).toContain(effective.approval);
      if (entry.approval === undefined && fitting.length > 0) expect(effective.isWildcard).toBe(true);
      expect(effective.onLost).toBe(entry.onLost);
      expect(withWorkspace(entry, tool, NO_APPROVALS)).toEqual(entry);
    }),
  );
});
