import type { Graph, GraphStep, JsonValue } from '../server/orchestrator/core/index.ts';

export type Kind = 'condition' | 'lua_script';

const step = (kind: Kind, id: string, depends_on: string[]): GraphStep =>
  kind === 'condition'
    ? { id, type: kind, depends_on, expression: 'input.n > 0', mode: 'validate' }
    : { id, type: kind, depends_on, script: 'return input.n + 1' };

/** Steps one after the other. */
export const chain = (kind: Kind, length: number): Graph => ({
  steps: Array.from({ length }, (_, index) => step(kind, `s${index}`, index === 0 ? [] : [`s${index - 1}`])),
});

/** Steps side by side, and one that waits for all of them. */
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

/** A loop over `count` numbers with one Lua step for each, `concurrency` items at a time. */
export const forEach = (count: number, concurrency: number): Graph => ({
  steps: [
    { id: 'list', type: 'lua_script', script: `local t = {} for i = 1, ${count} do t[i] = i end return t` },
    {
      id: 'each',
      type: 'for_each',
      depends_on: ['list'],
      items: '{{steps.list.result}}',
      concurrency,
      // A graph is JSON; an absent field is an undefined one in its type alone.
      steps: [{ id: 'one', type: 'lua_script', script: 'return item + 1' }] as unknown as JsonValue,
    },
  ],
});

/** A question, and a step after its answer. */
export const blocked: Graph = {
  steps: [{ id: 'ask', type: 'human_task' }, step('condition', 'after', ['ask'])],
};

/** Layers side by side: each step waits for two of the layer before. */
export const layers = (kind: Kind, count: number, width: number): Graph => ({
  steps: Array.from({ length: count * width }, (_, index) => {
    const [layer, place] = [Math.floor(index / width), index % width];
    const before = (at: number) => `l${layer - 1}_${at % width}`;
    return step(kind, `l${layer}_${place}`, layer === 0 ? [] : [before(place), before(place + 1)]);
  }),
});
