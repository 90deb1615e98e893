import { expect, test } from 'vitest';
import type { AgentPlan } from '../../core/index.ts';
import { FREE } from '../../ports/credits.ts';
import { fitTurn } from './budget.ts';

const prices = { ...FREE.prices, workflow_step: 100, llm_input_tokens: 1, llm_output_tokens: 2 };
const agent = (spent: number, over: Partial<AgentPlan> = {}) => {
  const limits = { max_turns: 5, max_tool_calls: 5, on_limit: 'answer', budget: 10_000 } as const;
  return { plan: { type: 'agent', model: 'x/y', ...limits, ...over } as AgentPlan, spent };
};

/** The budget is 10,000 microcredits, of which 1,000 are reserved for the closing turn. The step costs 100, and its input 400. */
test.each([
  [0, null, { closing: null, output: 4_250 }],
  [7_988, null, { closing: null, output: 256 }],
  [7_989, null, { closing: 'budget', output: 755 }],
  [9_468, null, { closing: 'budget', output: 16 }],
  [9_469, null, null],
  [7_988, 'timeout', { closing: 'timeout', output: 756 }],
  [9_469, 'timeout', null],
] as const)('with %i spent, closing for %s', (spent, closing, fitted) => {
  expect(fitTurn({ agent: agent(spent), prices, input: 400, closing })).toEqual(fitted);
});

test('an agent that fails at its limits has no closing turn', () => {
  const fails = { on_limit: 'fail' } as const;
  expect(fitTurn({ agent: agent(7_988, fails), prices, input: 400, closing: null })).not.toBeNull();
  expect(fitTurn({ agent: agent(7_989, fails), prices, input: 400, closing: null })).toBeNull();
});

test('answers may have any length without a budget, without prices, or if output is free', () => {
  const unlimited = { closing: null, output: Number.POSITIVE_INFINITY };
  const { budget: _, ...plan } = agent(0).plan;
  expect(fitTurn({ agent: { plan, spent: 0 }, prices, input: 400, closing: null })).toEqual(unlimited);
  expect(fitTurn({ agent: agent(9_999), prices: undefined, input: 400, closing: null })).toEqual(unlimited);
  const free = { ...prices, llm_output_tokens: 0 };
  expect(fitTurn({ agent: agent(0), prices: free, input: 400, closing: null })).toEqual(unlimited);
  expect(fitTurn({ agent: agent(0), prices: free, input: 20_000, closing: null })).toBeNull();
});
