import type { Graph, GraphStep, JsonMap, JsonValue, RunStartedData } from '../core/index.ts';
import type { Random } from './random.ts';

/** How much may happen in one simulation; a failing one is made smaller by turning these down. */
export type Knobs = {
  runs: number;
  steps: number;
  /** Crashes, take-overs and lost acknowledgements of the process. */
  faults: number;
  /** Commands to each run. */
  commands: number;
  /** Chance that an attempt fails, in percent. */
  failures: number;
};

export const FULL: Knobs = { runs: 2, steps: 10, faults: 3, commands: 4, failures: 12 };

/** Ids that would break a map made of a plain object. */
const TRICKY_IDS = ['__proto__', 'constructor', 'hasOwnProperty'];

export function randomGraph(random: Random, maxSteps: number): Graph {
  const ids: string[] = [];
  const tricky = random.chance(0.1);
  const size = random.below(maxSteps + 1);
  for (let index = 0; index < size; index++) {
    ids.push((tricky ? TRICKY_IDS[index] : undefined) ?? `s${index}`);
  }
  return {
    steps: shuffle(
      random,
      ids.map((id, index) => randomStep(random, id, ids.slice(0, index), ids)),
    ),
  };
}

function randomStep(random: Random, id: string, before: readonly string[], all: readonly string[]): GraphStep {
  const recent = before.slice(-4);
  const step: GraphStep = { id, type: 'lua_script', depends_on: random.some(recent, 0.45) };
  if (random.chance(0.1)) step.disabled = true;
  if (random.chance(0.07)) step.gated = true;
  // A step that takes the process down whenever it runs.
  if (random.chance(0.015)) step.poison = true;
  const kind = random.next();
  if (kind < 0.3) {
    step.type = 'condition';
    Object.assign(step, randomBranches(random, all));
    if (random.chance(0.15)) step.mode = random.pick(['validate', 'branch']);
  } else if (kind < 0.42) {
    step.type = 'human_task';
  }
  if (step.type !== 'human_task' && random.chance(0.7)) {
    step.retry_count = 1 + random.below(3);
    step.retry_delay_s = 1 + random.below(5);
  }
  return step;
}

function randomBranches(random: Random, all: readonly string[]): { then: string[]; else: string[] } {
  return { then: random.some(all, 0.3), else: random.some(all, 0.3) };
}

export function randomStart(random: Random, graph: Graph): RunStartedData {
  const ids = graph.steps.map(step => step.id);
  const isEpisode = random.chance(0.25);
  const named = isEpisode || random.chance(0.3) ? random.some(ids, 0.25) : [];
  const seeded = isEpisode || random.chance(0.1) ? random.some(ids, 0.5) : [];
  return {
    version: 1,
    input: {},
    mode: isEpisode ? 'episode' : 'normal',
    trigger_type: 'manual',
    trigger_steps: Object.fromEntries(named.map(id => [id, randomOverride(random, ids)])),
    seed_results: Object.fromEntries(seeded.map(id => [id, randomSeed(random)])),
    session_id: 'session',
    started_by: 'ann',
  };
}

function randomOverride(random: Random, ids: readonly string[]): JsonMap {
  if (random.chance(0.5)) return {};
  return random.pick<JsonMap>([
    { disabled: true },
    { disabled: false },
    { retry_count: random.below(3), retry_delay_s: 1 },
    randomBranches(random, ids),
    { mode: 'validate' },
    { id: 'other', type: 'condition', depends_on: [] },
  ]);
}

function randomSeed(random: Random): JsonValue {
  return random.pick<JsonValue>([{ value: true, branch: 'then' }, { value: false, branch: 'else' }, 7, null]);
}

function shuffle<T>(random: Random, items: T[]): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    const [a, b] = [items[last], items[other]];
    if (a !== undefined && b !== undefined) [items[last], items[other]] = [b, a];
  }
  return items;
}
