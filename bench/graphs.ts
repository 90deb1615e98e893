import type { Graph, GraphStep, JsonValue } from '../server/orchestrator/core/index.ts';

export type Kind = 'condition' | 'lua_script';

const step = (kind: Kind, id: string, depends_on: string[]): GraphStep =>
  kind === 'condition'
    ? { id, type: kind, depends_on, expression: 'input.n > 0', mode: 'validate' }
    : { id, type: kind, depends_on, script: 'return input.n + 1' };

/** Steps one after another. */
export const chain = (kind: Kind, length: number): Graph => ({
  steps: Array.from({ length }, (_, index) => step(kind, `s${index}`, index === 0 ? [] : [`s${index - 1}`])),
});

/** Parallel steps, followed by one that waits for all of them. */
export function fanOut(kind: Kind, width: number): Graph {
  const parallel = Array.from({ length: width }, (_, index) => step(kind, `p${index}`, []));
  return {
    steps: [
      ...parallel,
      step(
        kind,
        'join',
        parallel.map(({ id }) => id),
      ),
    ],
  };
}

/** A loop over the numbers from 1 to `count` with one step for each, 100 items at a time. */
const loop = (count: number, item: GraphStep): Graph => ({
  steps: [
    { id: 'list', type: 'lua_script', script: `local t = {} for i = 1, ${count} do t[i] = i end return t` },
    {
      id: 'each',
      type: 'for_each',
      depends_on: ['list'],
      items: '{{steps.list.result}}',
      concurrency: 100,
      // The type of a graph has absent fields as undefined ones, which JSON does not have.
      steps: [item] as unknown as JsonValue,
    },
  ],
});

/** A loop over `count` numbers with one Lua step for each. */
export const forEach = (count: number): Graph =>
  loop(count, { id: 'one', type: 'lua_script', script: 'return item + 1' });

/** A loop over `count` numbers that calls a workflow for each. */
export const callEach = (count: number, workflowId: string): Graph =>
  loop(count, { id: 'call', type: 'call_workflow', workflow_id: workflowId, input: { n: '{{item}}' } });

/** GET requests to `url`, one after another. */
export const requests = (length: number, url: string): Graph => ({
  steps: Array.from({ length }, (_, index) => ({
    id: `r${index}`,
    type: 'http_request',
    depends_on: index === 0 ? [] : [`r${index - 1}`],
    url,
  })),
});

/** A human task, and a step after it. */
export const blocked: Graph = {
  steps: [{ id: 'ask', type: 'human_task' }, step('condition', 'after', ['ask'])],
};

/** Layers of parallel steps: each step waits for two of the previous layer. */
export const layers = (kind: Kind, count: number, width: number): Graph => ({
  steps: Array.from({ length: count * width }, (_, index) => {
    const [layer, place] = [Math.floor(index / width), index % width];
    const before = (at: number) => `l${layer - 1}_${at % width}`;
    return step(kind, `l${layer}_${place}`, layer === 0 ? [] : [before(place), before(place + 1)]);
  }),
});

/** One agent with a tool. */
export const agent: Graph = {
  steps: [
    {
      id: 'agent',
      type: 'agent',
      model: 'bench/scripted',
      prompt: 'Look the numbers up.',
      tools: [{ type: 'mcp', instance_id: 'tools', tools: ['look_up'] }],
    },
  ],
};
