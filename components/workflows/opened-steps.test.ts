import { describe, expect, test } from 'vitest';
import { openableFields } from '../../server/orchestrator/steps/common-fields.ts';
import { createStepTypes } from '../../server/orchestrator/steps/registry.ts';
import { openedSteps, triggerSteps } from './opened-steps.ts';

const steps = [
  { id: 'closed', type: 'lua_script', script: 'return 1', timeout_s: 5 },
  { id: 'quick', type: 'lua_script', name: 'Be quick', script: 'return 1', overridable: ['timeout_s', 'name'] },
  { id: 'extra', type: 'lua_script', script: 'return 1', gated: true },
  {
    id: 'pay',
    type: 'mcp_call',
    gated: true,
    tool_args: { amount: 1 },
    overridable: ['tool_args', 'a field of tomorrow'],
  },
];
const opened = openedSteps(steps, { quick: { timeout_s: 9 } });
const none = { granted: new Set<string>(), values: {} };

describe('openedSteps', () => {
  test('returns the steps with opened fields and the gated steps, with their present values', () => {
    expect(opened.map(({ id, title, isGated, values }) => [id, title, isGated, values])).toEqual([
      ['quick', 'Be quick', false, { name: 'Be quick', timeout_s: 9 }],
      ['extra', 'extra', true, {}],
      ['pay', 'pay', true, { tool_args: { amount: 1 } }],
    ]);
    expect(opened[0]?.fields).toEqual([
      { name: 'name', kind: 'text' },
      { name: 'timeout_s', kind: 'number' },
    ]);
  });

  test('leaves out a disabled step, and a gated step that the run setup includes anyway', () => {
    expect(openedSteps([{ id: 'a', type: 'lua_script', gated: true, disabled: true }], {})).toEqual([]);
    expect(openedSteps([{ id: 'a', type: 'lua_script', gated: true }], { a: {} })).toEqual([]);
    expect(openedSteps([{ id: 'a', type: 'lua_script', gated: true, overridable: ['name'] }], { a: {} })).toMatchObject(
      [{ id: 'a', isGated: false }],
    );
  });

  test('knows every field that a step of any type may open', () => {
    for (const type of createStepTypes({ luaPool: null as never }).values()) {
      const names = openableFields(type);
      const [step] = openedSteps([{ id: 'a', type: type.type, overridable: names }], {});
      expect(step?.fields.map(({ name }) => name).sort(), type.type).toEqual(names.toSorted());
    }
  });
});

describe('triggerSteps', () => {
  test('is empty without changes', () => {
    expect(triggerSteps(opened, none)).toEqual({});
    expect(triggerSteps(opened, { ...none, values: { quick: { name: 'Be quick', timeout_s: 9 } } })).toEqual({});
  });

  test('contains the changes and the granted steps', () => {
    const values = { quick: { name: 'Be quick', timeout_s: 3 }, pay: { tool_args: { amount: 2 } } };
    expect(triggerSteps(opened, { granted: new Set(['extra']), values })).toEqual({
      quick: { timeout_s: 3 },
      extra: {},
    });
    expect(triggerSteps(opened, { granted: new Set(['pay']), values })).toEqual({
      quick: { timeout_s: 3 },
      pay: { tool_args: { amount: 2 } },
    });
  });

  test('ignores an empty text in a field that the version does not set', () => {
    const [step] = openedSteps([{ id: 'a', type: 'llm_call', prompt: 'Hi', overridable: ['prompt', 'system'] }], {});
    expect(triggerSteps(step ? [step] : [], { ...none, values: { a: { prompt: 'Hi', system: '' } } })).toEqual({});
    expect(triggerSteps(step ? [step] : [], { ...none, values: { a: { prompt: '' } } })).toEqual({ a: { prompt: '' } });
  });
});
