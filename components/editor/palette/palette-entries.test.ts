import { expect, test } from 'vitest';
import { STEP_TYPES } from '@/server/orchestrator/steps/descriptions.ts';
import type { StepTypeForm } from '../step-fields.ts';
import { entryOf, groupsOf, search, toolEntries } from './palette-entries.ts';

const types = Object.keys(STEP_TYPES).map(
  (type): StepTypeForm => ({ type, schema: {}, retries: true, unavailable: null, defaultTimeoutS: null }),
);
const groups = (known: Partial<Parameters<typeof groupsOf>[0]>) =>
  groupsOf({ types, typeBefore: null, recent: [], ...known }).map(({ title, entries }) => [
    title,
    entries.map(({ type }) => type),
  ]);

test('every type has its own sentence and is in one group', () => {
  const sentences = types.map(type => entryOf(type).sentence);
  expect(new Set(sentences).size).toBe(types.length);
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
  for (const typeBefore of [null, ...types.map(({ type }) => type)]) {
    const shown = groupsOf({ types, typeBefore, recent: ['wait', 'condition', 'gone'] });
    const all = shown.flatMap(({ entries }) => entries.map(({ type }) => type));
    expect(all.toSorted()).toEqual(types.map(({ type }) => type).toSorted());
  }
});

test('frequent successors of a step come first, then recently used types', () => {
  expect(groups({ typeBefore: 'http_request', recent: ['wait', 'condition'] })).toEqual([
    ['Suggested', ['condition', 'lua_script', 'for_each']],
    ['Recent', ['wait']],
    ['All steps', expect.not.arrayContaining(['condition', 'wait'])],
  ]);
});

test('an unavailable type is not suggested', () => {
  const without = types.map(each => (each.type === 'condition' ? { ...each, unavailable: 'No.' } : each));
  expect(groups({ types: without, typeBefore: 'http_request' })[0]).toEqual(['Suggested', ['lua_script', 'for_each']]);
});

test.each([
  ['if', 'condition'],
  ['loop', 'for_each'],
  ['approval', 'human_task'],
  ['rest api', 'http_request'],
  ['LUA', 'lua_script'],
])('“%s” finds %s first', (text, type) => {
  expect(search(types.map(entryOf), text)[0]?.type).toBe(type);
});

test('tools of a connected server are found by tool name and server name, and create a call of the tool', () => {
  const entries = toolEntries({ id: 'i1', name: 'Tracker' }, [
    { name: 'create_issue', title: 'Create an issue', description: 'Files an issue.\nMore.' },
    { name: 'list' },
  ]);
  expect(search(entries, 'tracker issue')).toEqual([
    {
      key: 'i1/create_issue',
      type: 'mcp_call',
      fields: { instance_id: 'i1', tool_name: 'create_issue' },
      label: 'Create an issue',
      sentence: 'Tracker · Files an issue.',
      keywords: ['create_issue', 'Tracker'],
      unavailable: null,
    },
  ]);
  expect(search(entries, 'tracker')).toHaveLength(2);
});
