import { expect, test } from 'vitest';
import {
  type AgentTools,
  type CatalogTool,
  choicesOf,
  defaultChoice,
  effectiveNames,
  instancesOf,
  onLostOf,
  withChoices,
  withOnLost,
} from './tool-choices.ts';

const tool = (name: string, annotations: CatalogTool['annotations'] = null) => ({ name, annotations }) as CatalogTool;
const catalog = [
  tool('read', { readOnlyHint: true }),
  tool('write'),
  tool('delete', { destructiveHint: true }),
  tool('odd', { readOnlyHint: true, destructiveHint: true }),
];
const entry = (instance_id: string, tools: string[], approval?: 'auto' | 'ask' | 'deny') => ({
  type: 'mcp' as const,
  instance_id,
  tools,
  ...(approval && { approval }),
});

test('by default, read-only tools are called, and all others ask', () => {
  expect(choicesOf([entry('a', ['*'])], 'a', catalog)).toEqual({
    read: 'auto',
    write: 'ask',
    delete: 'ask',
    odd: 'ask',
  });
  expect(defaultChoice({ reads: false, destroys: false })).toBe('ask');
});

test('an entry for a tool takes precedence over a wildcard', () => {
  const tools: AgentTools = [entry('a', ['*'], 'auto'), entry('a', ['read'], 'ask'), entry('b', ['write'], 'auto')];
  expect(choicesOf(tools, 'a', catalog)).toEqual({ read: 'ask', write: 'auto', delete: 'ask', odd: 'ask' });
  expect(choicesOf(tools, 'b', catalog)).toEqual({ read: 'never', write: 'auto', delete: 'never', odd: 'never' });
  expect(choicesOf([entry('a', ['*'], 'deny')], 'a', catalog)).toEqual({
    read: 'never',
    write: 'never',
    delete: 'never',
    odd: 'never',
  });
});

test('the strictest of several entries counts, in any order', () => {
  const tools: AgentTools = [entry('a', ['write'], 'auto'), entry('A', ['write'], 'deny'), entry('a', ['*'], 'auto')];
  for (const given of [tools, tools.toReversed()]) {
    expect(choicesOf(given, 'a', catalog)).toMatchObject({ write: 'never', read: 'auto', delete: 'ask' });
    expect(effectiveNames(given)).toContainEqual({ names: ['write'], approval: 'deny' });
    expect(effectiveNames(given)).toContainEqual({ names: ['*'], approval: 'auto' });
    expect(effectiveNames(given)).toHaveLength(2);
  }
  expect(instancesOf(tools)).toEqual(['a']);
});

test('choices can be stored and read without changing other instances', () => {
  const choices = { read: 'auto', write: 'ask', delete: 'never', odd: 'never' } as const;
  const chosen = withChoices([entry('a', ['*']), entry('b', ['*'])], 'a', choices);
  expect(chosen).toEqual([entry('b', ['*']), entry('a', ['read'], 'auto'), entry('a', ['write'], 'ask')]);
  expect(choicesOf(chosen, 'a', catalog)).toEqual(choices);
  expect(instancesOf(chosen)).toEqual(['b', 'a']);
});

test('the policies for lost calls are kept for each tool', () => {
  const tools: AgentTools = [
    { ...entry('a', ['*']), on_lost: 'ask' },
    { ...entry('a', ['read']), on_lost: 'retry' },
  ];
  expect(withChoices(tools, 'a', { read: 'ask', write: 'ask' })).toEqual([
    { ...entry('a', ['read'], 'ask'), on_lost: 'retry' },
    { ...entry('a', ['write'], 'ask'), on_lost: 'ask' },
  ]);
});

test('an instance without callable tools is removed', () => {
  expect(withChoices([entry('a', ['*'])], 'a', { read: 'never' })).toEqual([]);
});

test('the policy for lost calls is set for one instance', () => {
  const tools: AgentTools = [entry('a', ['*']), { ...entry('a', ['read']), on_lost: 'retry' }, entry('b', ['*'])];
  expect(onLostOf(tools, 'a')).toBeUndefined();
  const asking = withOnLost(tools, 'a', 'ask');
  expect([onLostOf(asking, 'a'), onLostOf(asking, 'b'), onLostOf(asking, 'c')]).toEqual(['ask', 'default', 'default']);
  expect(withOnLost(asking, 'a', 'default')).toEqual([entry('a', ['*']), entry('a', ['read']), entry('b', ['*'])]);
});
