import type { Graph, GraphStep } from '../core/index.ts';
import type { Random } from './random.ts';

/** Ids that would break a map that is a plain object. */
const TRICKY_IDS = ['__proto__', 'constructor', 'hasOwnProperty'];

/** Returns a graph of at most `maxSteps` steps. */
export function randomGraph(random: Random, maxSteps: number, minSteps = 0): Graph {
  const ids: string[] = [];
  const tricky = random.chance(0.1);
  const size = minSteps + random.below(maxSteps + 1 - minSteps);
  for (let index = 0; index < size; index++) {
    ids.push((tricky ? TRICKY_IDS[index] : undefined) ?? `s${index}`);
  }
  const width = random.chance(0.2) ? 0.1 : 0.45;
  return {
    steps: shuffle(
      random,
      ids.map((id, index) => randomStep(random, id, { before: ids.slice(0, index), all: ids, width })),
    ),
  };
}

type Place = { before: readonly string[]; all: readonly string[]; width: number };

function randomStep(random: Random, id: string, { before, all, width }: Place): GraphStep {
  const step: GraphStep = { id, type: 'lua_script', depends_on: random.some(before.slice(-4), width) };
  if (random.chance(0.1)) step.disabled = true;
  if (random.chance(0.07)) step.gated = true;
  if (random.chance(0.2)) step.on_error = random.chance(0.9) ? 'continue' : 'fail';
  const kind = random.next();
  if (kind < 0.25) {
    step.type = 'condition';
    Object.assign(step, randomBranches(random, all));
    if (random.chance(0.15)) step.mode = random.pick(['validate', 'branch']);
  } else if (kind < 0.37) {
    step.type = 'human_task';
    if (random.chance(0.4)) step.timeout_s = 1 + random.below(8);
    step.on_timeout = random.pick(['fail', 'approve', 'reject']);
  } else if (kind < 0.45) {
    step.type = 'mcp_call';
    if (kind < 0.42) step.on_lost = 'ask';
  } else if (kind < 0.46) step.type = 'of_another_server';
  else if (kind < 0.51) step.type = 'wait';
  if (step.type !== 'human_task' && step.type !== 'wait' && random.chance(0.6)) {
    step.retry_count = 1 + random.below(3);
    step.retry_delay_s = 1 + random.below(5);
  }
  return step;
}

/** Turns most scripts of some graphs into conditions without branches, so that turns decide several steps ahead. */
export function addPureSteps(random: Random, { steps }: Graph): void {
  if (!random.chance(0.4)) return;
  for (const step of steps) {
    if (step.type !== 'lua_script' || random.chance(0.3)) continue;
    step.type = 'condition';
    if (random.chance(0.3)) step.mode = 'validate';
  }
}

/** Returns branches of a condition, drawn from these steps. */
export function randomBranches(random: Random, all: readonly string[]): { then: string[]; else: string[] } {
  return { then: random.some(all, 0.3), else: random.some(all, 0.3) };
}

function shuffle<T>(random: Random, items: T[]): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    const [a, b] = [items[last], items[other]];
    if (a !== undefined && b !== undefined) [items[last], items[other]] = [b, a];
  }
  return items;
}
