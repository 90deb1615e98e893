import type { Graph, GraphStep } from '../core/index.ts';
import { type StepPlan, WORKS } from './plans.ts';
import type { Random } from './random.ts';

/** The percentage of runs that have steps which are skipped in large numbers. */
const SHARE = 12;

/**
 * Adds many dependents to a step: one failure, stop or branch skips all of them, and so does the end of the step if
 * they are disabled or gated. Returns the plans of the dependents.
 */
export function addManySkips(random: Random, { steps }: Graph): Map<string, StepPlan> {
  const plans = new Map<string, StepPlan>();
  const above = steps[random.below(Math.max(1, steps.length))];
  if (above === undefined || !random.chance(SHARE / 100)) return plans;
  const kind = random.pick(['plain', 'disabled', 'gated', 'mixed'] as const);
  const isChain = random.chance(0.3);
  const count = 5 + random.below(20);
  let before = above.id;
  for (let index = 0; index < count; index++) {
    const step: GraphStep = { id: `many${index}`, type: 'lua_script', depends_on: [isChain ? before : above.id] };
    if (kind === 'disabled' || (kind === 'mixed' && index % 2 === 0)) step.disabled = true;
    if (kind === 'gated' || (kind === 'mixed' && index % 2 === 1)) step.gated = true;
    if (above.type === 'condition' && random.chance(0.5)) above.then = [...idsOf(above.then), step.id];
    steps.push(step);
    plans.set(step.id, WORKS);
    before = step.id;
  }
  return plans;
}

const idsOf = (list: GraphStep['then']): string[] =>
  Array.isArray(list) ? list.filter(id => typeof id === 'string') : [];
