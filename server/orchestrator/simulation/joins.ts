import type { Graph, GraphStep } from '../core/index.ts';
import { stepsOf } from './history.ts';
import type { Random } from './random.ts';

/**
 * Adds cases that few drawn graphs have to some conditions of a graph and of its loops: a dependent that both branches
 * name, or a branch that leads directly to a step to which the other branch also leads.
 */
export function addJoins(random: Random, { steps }: Graph): void {
  for (const step of steps) {
    addJoins(random, { steps: stepsOf(step) });
    if (step.type !== 'condition' || step.mode === 'validate' || random.chance(0.4)) continue;
    const branch = choose(random, dependentsOf(steps, step.id));
    if (branch === undefined) continue;
    // A step that already depends on the branch may also depend on the condition: this closes no cycle.
    const join = choose(random, dependentsOf(steps, branch.id)) ?? branch;
    join.depends_on = [...new Set([...(join.depends_on ?? []), step.id])];
    const [one, other] = random.chance(0.5) ? (['then', 'else'] as const) : (['else', 'then'] as const);
    step[one] = [...new Set([...idsOf(step[one]), branch.id])].filter(id => id !== join.id || join === branch);
    step[other] = [...new Set([...idsOf(step[other]), join.id])].filter(id => id !== branch.id || join === branch);
  }
}

const dependentsOf = (steps: readonly GraphStep[], id: string): GraphStep[] =>
  steps.filter(({ depends_on = [] }) => depends_on.includes(id));

const idsOf = (list: GraphStep['then']): string[] =>
  Array.isArray(list) ? list.filter(id => typeof id === 'string') : [];

function choose<T>(random: Random, items: readonly T[]): T | undefined {
  return items[random.below(items.length)];
}
