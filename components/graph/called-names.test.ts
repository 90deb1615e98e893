import { expect, test } from 'vitest';
import { calledBy, kindsCalled } from './called-names.ts';

const ID = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';

test('calledBy returns the called workflow or agent, unless the id is a template', () => {
  expect(calledBy({ type: 'call_workflow', workflow_id: ID })).toBe(ID);
  expect(calledBy({ type: 'agent', agent_id: ID })).toBe(ID);
  expect(calledBy({ type: 'agent', agent_id: 7 })).toBeNull();
  expect(calledBy({ type: 'call_workflow', workflow_id: '{{input.which}}' })).toBeNull();
  expect(calledBy({ type: 'lua_script', workflow_id: ID })).toBeNull();
});

test('kindsCalled includes the calls of steps in loops', () => {
  const call = { id: 'b', type: 'call_workflow', workflow_id: ID };
  const loop = { id: 'a', type: 'for_each', items: '[1]', steps: [call, null, 'odd'] };
  expect(kindsCalled([loop])).toEqual({ workflows: true, agents: false });
  expect(kindsCalled([{ id: 'c', type: 'agent', agent_id: ID } as never])).toEqual({ workflows: false, agents: true });
  expect(kindsCalled([{ id: 'd', type: 'agent' }, { id: 'e', type: 'for_each', steps: 1 } as never])).toEqual({
    workflows: false,
    agents: false,
  });
});
