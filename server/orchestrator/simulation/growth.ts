import { agentStepType, type Graph, type GraphStep, type JsonValue } from '../core/index.ts';
import { randomGraph } from './graphs.ts';
import { type History, type StepHistory, stepsOf } from './history.ts';
import { type StepPlan, stepPlan } from './plans.ts';
import type { Random } from './random.ts';
import type { Knobs } from './scenario.ts';

/** The planned behavior of a loop. */
export type LoopPlan = { readonly items: number };

/** The maximum depth of nested loops. */
const DEEPEST = 2;

/** The oddities of a loop. The other oddities are about results, but a loop's result is that of its steps. */
const OF_LOOPS: readonly StepPlan['kind'][] = ['hangs', 'endless', 'poison', 'throws'];

/** The numbers of items of loops, drawn evenly: most have some, and few have many, which are slow to simulate. */
const ITEMS = [0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4] as const;
const ITEMS_WITHIN = [0, 1, 1, 2] as const;

/** Turns some steps of a graph into loops, at least one if any step can be one. */
export function addLoops(random: Random, { steps }: Graph, depth = 1): void {
  const able = steps.filter(({ type }) => type === 'lua_script' || type === 'mcp_call');
  const chosen = random.some(able, 0.3);
  const [first] = able;
  if (chosen.length === 0 && depth === 1 && first !== undefined) chosen.push(first);
  // A loop that is skipped, or follows a step that fails, adds nothing, so most runs get one that starts immediately.
  const [some] = chosen;
  if (depth === 1 && some !== undefined && random.chance(0.8)) {
    some.depends_on = [];
    delete some.disabled;
    delete some.gated;
  }
  for (const step of chosen) {
    const inner = randomGraph(random, 3, 1);
    if (depth < DEEPEST && random.chance(0.3)) addLoops(random, inner, depth + 1);
    step.type = 'for_each';
    // A graph is JSON, but its type declares absent fields as undefined.
    step.steps = inner.steps as JsonValue;
    step.concurrency = 1 + random.below(3);
    step.on_item_error = random.pick(['fail', 'continue', 'continue']);
    if (random.chance(0.15)) step.timeout_s = 1 + random.below(8);
  }
}

/** Returns the plans of the loops of a graph, and of all the steps that they may add. */
export function loopPlans(random: Random, knobs: Knobs, { steps }: Graph, prefix = ''): Map<string, StepPlan> {
  const plans = new Map<string, StepPlan>();
  for (const step of steps) {
    const id = `${prefix}${step.id}`;
    if (step.type !== 'for_each') continue;
    const items = random.pick(prefix === '' ? ITEMS : ITEMS_WITHIN);
    const plan = stepPlan(random, knobs, step, false);
    const kind = OF_LOOPS.includes(plan.kind) ? plan.kind : 'works';
    plans.set(id, { ...plan, kind, loop: { items } });
    for (let index = 0; index < items; index++) {
      const within = `${id}.${index}.`;
      const inner = stepsOf(step);
      for (const each of inner) plans.set(`${within}${each.id}`, stepPlan(random, knobs, each, false));
      for (const [nested, plan] of loopPlans(random, knobs, { steps: inner }, within)) plans.set(nested, plan);
    }
  }
  return plans;
}

/** Returns the published step with this id, at any depth. */
export function publishedStep(graph: Graph, id: string): GraphStep | undefined {
  const type = agentStepType(id);
  if (type !== null) return { id, type };
  const [name, , ...inner] = id.split('.');
  const step = graph.steps.find(each => each.id === name);
  return inner.length === 0 || step === undefined ? step : publishedStep({ steps: stepsOf(step) }, inner.join('.'));
}

/** Returns all published steps of a graph, including those of loops. */
export function allSteps({ steps }: Graph): GraphStep[] {
  return steps.flatMap(step => [step, ...allSteps({ steps: stepsOf(step) })]);
}

/** Returns the result of a loop whose items have all ended, derived from the log. */
export function gatheredResult(history: History, id: string): JsonValue {
  const { spec, children, expanded } = history.step(id);
  const plan = expanded?.data.plan;
  const count = plan?.type === 'for_each' ? plan.count : 0;
  const inner = stepsOf(spec);
  const last = inner.filter(step => !inner.some(({ depends_on }) => depends_on?.includes(step.id)));
  const results: JsonValue[] = [];
  let failed = 0;
  for (let index = 0; index < count; index++) {
    const within = `${id}.${index}.`;
    if (children.some(child => child.startsWith(within) && failsItem(history.step(child)))) {
      failed += 1;
      results.push(null);
      continue;
    }
    const ends = last.map(step => [step.id, resultOf(history, `${within}${step.id}`)] as const);
    const [first] = ends;
    results.push(ends.length === 1 && first !== undefined ? first[1] : Object.fromEntries(ends));
  }
  return { results, failed };
}

function resultOf(history: History, id: string): JsonValue {
  const end = history.step(id).end;
  return end?.type === 'step_completed' && 'result' in end.data ? (end.data.result as JsonValue) : null;
}

/** Whether the failure of an added step fails its item. */
export function failsItem({ end }: StepHistory): boolean {
  return end?.type === 'step_failed' && !end.data.continues;
}
