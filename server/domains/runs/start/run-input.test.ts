import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleInput, mergeBeneath, reservedParams } from './run-input.ts';

describe('the input of a run', () => {
  test('is the trigger payload, in which free-form keys replace fields', () => {
    expect(assembleInput({ trigger_payload: { a: 1, b: 2 }, b: 3, c: 4, session_id: 's' })).toEqual({
      a: 1,
      b: 3,
      c: 4,
    });
  });

  test('lets a webhook payload replace fields of the trigger payload', () => {
    expect(assembleInput({ trigger_payload: { a: 1, b: 2 }, webhook_payload: { b: 3 } })).toEqual({ a: 1, b: 3 });
  });

  test('holds no reserved key, whatever its value', () => {
    const params = Object.fromEntries([...reservedParams].map(key => [key, 'x']));
    expect(assembleInput({ ...params, kept: true })).toEqual({ kept: true });
  });

  test('keeps a key __proto__ as a key', () => {
    const input = assembleInput(JSON.parse('{"__proto__": {"polluted": true}, "trigger_payload": {"__proto__": 1}}'));
    expect(Object.keys(input)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('defaults', () => {
  test('are merged beneath at every depth of objects; arrays and other values are replaced', () => {
    const over = { a: { x: 1 }, list: [1], gone: null };
    const beneath = { a: { x: 0, y: { z: 2 } }, list: [1, 2, 3], gone: { deep: true }, more: 'm' };
    expect(mergeBeneath(over, beneath)).toEqual({ a: { x: 1, y: { z: 2 } }, list: [1], gone: null, more: 'm' });
  });

  test('do not change the values that are merged, and a value merged beneath itself stays equal', () => {
    const json = fc
      .jsonValue({ maxDepth: 4 })
      .filter(value => typeof value === 'object' && value !== null && !Array.isArray(value));
    fc.assert(
      fc.property(json, json, (left, right) => {
        const [over, beneath] = [JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right))];
        const before = JSON.stringify([over, beneath]);
        const merged = mergeBeneath(over, beneath);
        expect(JSON.stringify([over, beneath])).toBe(before);
        expect(mergeBeneath(over, over)).toEqual(over);
        for (const [key, value] of Object.entries(over)) {
          if (typeof value !== 'object') expect(merged[key]).toEqual(value);
        }
        for (const key of Object.keys(beneath)) expect(Object.hasOwn(merged, key)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
