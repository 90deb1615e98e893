import { expect, test } from 'vitest';
import { applyEvent, newRunState, type RunState } from '@/server/domains/runs/reading/run-state.ts';
import { agentStepsOf, withAgentSteps } from './agent-steps.ts';

/** Creates a run of `before → research → after` in which the agent has added these steps, one event each. */
function runWith(
  ...added: { id: string; type: string; depends_on?: string[]; fields?: Record<string, string> }[]
): RunState {
  const state = newRunState(['before', 'research', 'after']);
  for (const [index, step] of added.entries())
    applyEvent(state, {
      seq: index + 1,
      event_type: 'steps_added',
      step_id: 'research',
      attempt: 1,
      data: { parent: 'research', steps: [{ fields: {}, ...step }] },
      created_at: '2026-01-01T00:00:00.000Z',
    });
  return state;
}

const twoTurns = () =>
  runWith(
    { id: 'research.1', type: 'agent_turn', depends_on: [] },
    { id: 'research.1.1', type: 'agent_tool', depends_on: ['research.1'], fields: { tool: 'find' } },
    { id: 'research.1.2.ok', type: 'agent_approval', depends_on: ['research.1'], fields: { tool: 'send' } },
    { id: 'research.1.2', type: 'agent_tool', depends_on: ['research.1', 'research.1.2.ok'], fields: { tool: 'send' } },
    {
      id: 'research.2',
      type: 'agent_turn',
      depends_on: ['research.1', 'research.1.1', 'research.1.2'],
      fields: { closing: 'budget' },
    },
  );

test('turns, calls and approvals are listed in the order of their addition', () => {
  const steps = agentStepsOf(twoTurns()).get('research') ?? [];
  expect(steps.map(({ id, name, depth }) => [id, name, depth])).toEqual([
    ['research.1', 'Turn 1', 1],
    ['research.1.1', 'find', 2],
    ['research.1.2.ok', 'Approval of send', 2],
    ['research.1.2', 'send', 2],
    ['research.2', 'Turn 2 (closing)', 1],
  ]);
  expect(steps.map(({ depends_on }) => depends_on)).toEqual([
    ['research'],
    ['research.1'],
    ['research.1'],
    ['research.1', 'research.1.2.ok'],
    ['research.1', 'research.1.1', 'research.1.2'],
  ]);
});

test('the steps of loops, and of agents in loops, are not listed under an agent of the graph', () => {
  const state = runWith({ id: 'each.3.fetch', type: 'lua_script' }, { id: 'each.3.research.1', type: 'agent_turn' });
  expect(agentStepsOf(state).size).toBe(0);
  expect([...state.steps.keys()]).toEqual(['before', 'research', 'after']);
});

test('in the graph, steps after an agent depend on the last step of the agent', () => {
  const steps = [
    { id: 'before', type: 'lua_script', position: { x: 0, y: 0 } },
    { id: 'research', type: 'agent', depends_on: ['before'], position: { x: 0, y: 0 } },
    { id: 'after', type: 'lua_script', depends_on: ['research'], position: { x: 0, y: 0 } },
  ];
  const drawn = withAgentSteps(steps, agentStepsOf(twoTurns()));
  expect(drawn.map(({ id }) => id)).toEqual([
    'before',
    'research',
    'research.1',
    'research.1.1',
    'research.1.2.ok',
    'research.1.2',
    'research.2',
    'after',
  ]);
  const before = (id: string) => drawn.find(step => step.id === id)?.depends_on;
  expect(before('research.1.2')).toEqual(['research.1.2.ok']);
  expect(before('research.2')).toEqual(['research.1.1', 'research.1.2']);
  expect(before('after')).toEqual(['research.2']);
  expect(drawn.some(step => 'position' in step)).toBe(false);
});
