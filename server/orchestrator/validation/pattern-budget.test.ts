import { afterAll, expect, test } from 'vitest';
import { LuaPool } from '../languages/lua/index.ts';
import { MAX_PATTERN_SIZE, patternSize } from '../languages/pattern.ts';
import { createStepTypes } from '../steps/registry.ts';
import { validateGraph, validateOverrides } from './index.ts';
import { MAX_GRAPH_PATTERNS_SIZE, PatternBudget } from './pattern-budget.ts';

const pool = new LuaPool({ workers: 1 });
afterAll(() => pool.close());
const types = createStepTypes({ luaPool: pool });
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };

const LARGE = 'a{990}b{990}';
const MOST = Math.floor(MAX_GRAPH_PATTERNS_SIZE / patternSize(`${LARGE}100`));
const asks = (n: number) => ({
  id: `s${n}`,
  type: 'human_task',
  form: { properties: { p: { pattern: `${LARGE}${100 + n}` } } },
});

test('a graph whose patterns take too long to compile is refused at the first step that exceeds the limit', async () => {
  const steps = Array.from({ length: MOST + 1 }, (_, n) => asks(n));
  const { errors } = await validateGraph({ steps }, types, scope);
  expect(errors).toMatchObject([
    { step_id: `s${MOST}`, path: 'form', code: 'patterns_too_large', message: expect.any(String) },
  ]);
  expect(await validateGraph({ steps: steps.slice(1) }, types, scope)).toMatchObject({ valid: true });
});

test('the patterns of overrides count together', async () => {
  const model = { type: 'llm_call', model: 'openai/x', prompt: 'Hi' };
  const steps = Array.from({ length: MOST + 1 }, (_, n) => ({ id: `s${n}`, ...model }));
  const overrides = Object.fromEntries(steps.map(({ id }, n) => [id, { response_schema: asks(n).form }]));
  const problems = await validateOverrides({ steps }, overrides, types, scope);
  expect(problems.filter(({ code }) => code === 'patterns_too_large')).toMatchObject([
    { step_id: `s${MOST}`, path: 'response_schema' },
  ]);
});

test('patterns count in any place, and steps without patterns always fit', () => {
  const budget = new PatternBudget();
  const full = { properties: { p: { items: { anyOf: [{ pattern: LARGE }] } } } };
  for (let left = MAX_GRAPH_PATTERNS_SIZE; left >= patternSize(LARGE); left -= patternSize(LARGE))
    expect(budget.take({ id: 'a', type: 'llm_call', response_schema: full })).toBeNull();
  expect(budget.take({ id: 'a', type: 'llm_call', response_schema: full })).toBe('response_schema');
  expect(budget.take({ id: 'b', type: 'human_task', form: { properties: { p: { enum: ['a'] } } } })).toBeNull();
  expect(patternSize(LARGE)).toBeLessThan(MAX_PATTERN_SIZE);
});
