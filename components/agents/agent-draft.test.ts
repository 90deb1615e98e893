import { expect, test } from 'vitest';
import { type Agent, draftOf, isSame, patchOf } from './agent-draft.ts';

const agent: Agent = {
  id: '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10',
  name: 'Support',
  description: '',
  tenant_id: 'main',
  project_id: '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d11',
  status: 'active',
  version: 1,
  model: 'openai/gpt-5',
  instructions: 'Be brief.',
  temperature: null,
  max_tokens: null,
  response_schema: null,
  memory: null,
  tools: [],
  limits: { max_turns: 25, max_tool_calls: 100, timeout_s: 3_600, budget_credits: 0.5 },
  on_limit: 'answer',
  starters: [],
  etag: '"1"',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
};

test('an unchanged draft saves the original values', () => {
  const { name, description, model, instructions, tools, limits, on_limit, temperature, max_tokens, starters } = agent;
  const memory = { read: ['private'], write: 'propose' } as const;
  const given: Agent = { ...agent, memory: { ...memory, read: [...memory.read] } };
  expect(patchOf(draftOf(given))).toEqual({
    patch: {
      name,
      description,
      model,
      instructions,
      tools,
      memory,
      limits,
      on_limit,
      temperature,
      max_tokens,
      starters,
    },
  });
  expect(isSame(draftOf(agent), draftOf({ ...agent }))).toBe(true);
  expect(isSame(draftOf(agent), { ...draftOf(agent), model: 'x/y' })).toBe(false);
});

test('ignores empty lines of starters; an empty temperature is the default', () => {
  const draft = { ...draftOf({ ...agent, starters: ['One', 'Two'], temperature: 0.5 }), maxTokens: '100' };
  expect(draft.starters).toBe('One\nTwo');
  expect(patchOf({ ...draft, starters: ' One\n\n Three ', temperature: '' })).toMatchObject({
    patch: { starters: ['One', 'Three'], temperature: null, max_tokens: 100 },
  });
});

test('an empty budget means no limit; other fields need a number', () => {
  const draft = { ...draftOf(agent), budgetCredits: ' ' };
  expect(patchOf(draft)).toMatchObject({ patch: { limits: { budget_credits: null } } });
  expect(patchOf({ ...draft, maxTurns: 'many', timeoutS: '', budgetCredits: 'x', name: ' ' })).toEqual({
    problems: {
      'limits.max_turns': 'Enter a number.',
      'limits.timeout_s': 'Enter a number.',
      'limits.budget_credits': 'Enter a number.',
      name: 'This field is required.',
    },
  });
});
