import { expect, test } from 'vitest';
import { checkSource, stricterLimits } from './named.ts';

const scope = { tenantId: 't', projectId: 'p' };
const step = (fields: object) => ({ id: 'a', type: 'agent', prompt: 'Hello', ...fields });

test('a step can only lower the limits of the agent that it names', () => {
  expect(stricterLimits({ max_turns: 5, timeout_s: 60 }, { max_turns: 9, max_tool_calls: 3, timeout_s: 10 })).toEqual({
    max_turns: 5,
    max_tool_calls: 3,
    timeout_s: 10,
  });
  expect(stricterLimits({}, {})).toEqual({});
});

test('an agent is either named or described, but not both', async () => {
  expect(await checkSource(step({ model: 'x/y' }), scope, {})).toEqual([]);
  expect(await checkSource(step({ agent_id: 'a', limits: {} }), scope, {})).toEqual([]);
  expect(await checkSource(step({}), scope, {})).toMatchObject([{ path: 'model', code: 'missing_field' }]);
  const both = step({ agent_id: 'a', model: 'x/y', tools: [], on_limit: 'fail' });
  expect(await checkSource(both, scope, {})).toMatchObject([
    { path: 'model', code: 'field_conflict' },
    { path: 'tools', code: 'field_conflict' },
    { path: 'on_limit', code: 'field_conflict' },
  ]);
});
