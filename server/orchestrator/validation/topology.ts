import { allSteps, type GraphStep, innerSteps } from '../core/index.ts';
import { didYouMean, type Hint } from './hints.ts';
import { ProblemList } from './problem-list.ts';

/** The order of steps. Step ids are unique here: later duplicates are left out. */
export type Topology = {
  /** For the steps of a loop: the graph that contains the loop, and the loop's id. Otherwise null. */
  readonly outer: { readonly graph: Topology; readonly loop: string } | null;
  readonly steps: ReadonlyMap<string, GraphStep>;
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  isAncestor(ancestor: string, of: string): boolean;
  readonly problems: ProblemList;
};

function dependenciesOf(step: GraphStep): string[] {
  return Array.isArray(step.depends_on) ? step.depends_on.filter(id => typeof id === 'string') : [];
}

/** The steps of one cycle in order, with the first repeated at the end; undefined if there is none. */
function findCycle(steps: ReadonlyMap<string, GraphStep>): string[] | undefined {
  const done = new Set<string>();
  for (const start of steps.keys()) {
    // An explicit stack: 2,000 steps in a chain would be 2,000 frames.
    const path: { id: string; next: string[] }[] = [];
    const onPath = new Set<string>();
    const enter = (id: string): void => {
      const step = steps.get(id);
      path.push({ id, next: step ? dependenciesOf(step).filter(other => steps.has(other)) : [] });
      onPath.add(id);
    };
    if (!done.has(start)) enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const id = top.next.pop();
      if (id === undefined) {
        done.add(top.id);
        onPath.delete(top.id);
        path.pop();
      } else if (onPath.has(id)) {
        const names = path.map(item => item.id);
        // The search goes from dependents to dependencies; the result is in the order of execution.
        return [id, ...names.slice(names.indexOf(id) + 1).reverse(), id];
      } else if (!done.has(id)) enter(id);
    }
  }
  return undefined;
}

/** Ancestors as bit sets, one per step: for 2,000 steps 500 KB and a few milliseconds. */
function ancestorSets(steps: ReadonlyMap<string, GraphStep>): (ancestor: string, of: string) => boolean {
  const index = new Map([...steps.keys()].map((id, at) => [id, at]));
  const words = Math.ceil(steps.size / 32);
  const sets = new Map<string, Uint32Array>();
  const pending = [...steps.keys()];
  while (pending.length > 0) {
    const id = pending.at(-1) as string;
    const step = steps.get(id);
    const before = step ? dependenciesOf(step).filter(other => steps.has(other)) : [];
    const missing = sets.has(id) ? [] : before.filter(other => !sets.has(other));
    if (missing.length > 0) {
      pending.push(...missing);
      continue;
    }
    pending.pop();
    if (sets.has(id)) continue;
    const bits = new Uint32Array(words);
    for (const other of before) {
      const at = index.get(other) ?? 0;
      bits[at >> 5] = (bits[at >> 5] ?? 0) | (1 << (at & 31));
      const theirs = sets.get(other);
      // A plain loop counts: this runs words × dependencies times, 16 million in the densest graph of 1 MiB.
      for (let word = 0; theirs && word < words; word++) bits[word] = (bits[word] ?? 0) | (theirs[word] ?? 0);
    }
    sets.set(id, bits);
  }
  return (ancestor, of) => {
    const at = index.get(ancestor);
    return at !== undefined && (((sets.get(of)?.[at >> 5] ?? 0) >>> (at & 31)) & 1) === 1;
  };
}

/**
 * Orders the steps and finds duplicate ids, unknown dependencies and cycles. With a cycle every step counts as an
 * ancestor, so that the mistake is reported only once.
 */
export function topology(list: readonly GraphStep[]): Topology {
  const steps = new Map<string, GraphStep>();
  const problems = new ProblemList();
  const dependents = new Map<string, string[]>();
  const report = (step_id: string, path: string, code: string, message: string, hint?: Hint) =>
    problems.push({ step_id, path, code, message, hint });
  for (const step of list) {
    if (steps.has(step.id)) report(step.id, 'id', 'duplicate_step_id', `two steps have the id "${step.id}"`);
    else steps.set(step.id, step);
  }
  for (const step of steps.values()) {
    const seen = new Set<string>();
    for (const [at, id] of dependenciesOf(step).entries()) {
      const path = `depends_on[${at}]`;
      if (!steps.has(id)) {
        const hint = didYouMean(id, () => steps.keys(), 'Remove it from depends_on, or add a step with this id.');
        report(step.id, path, 'unknown_dependency', `there is no step "${id.slice(0, 80)}"`, hint);
      }
      if (seen.has(id)) report(step.id, path, 'duplicate_dependency', `"${id.slice(0, 80)}" is named twice`);
      else (dependents.get(id) ?? dependents.set(id, []).get(id))?.push(step.id);
      seen.add(id);
    }
  }
  const cycle = findCycle(steps);
  if (cycle) report(cycle[0] ?? '', 'depends_on', 'cycle', `the steps wait for each other: ${cycle.join(' → ')}`);
  return { outer: null, steps, dependents, problems, isAncestor: cycle ? () => true : ancestorSets(steps) };
}

/**
 * Like `topology`, for the steps of a loop, which can also read the steps before the loop. Their ids must differ from
 * those of the steps outside.
 */
export function loopTopology(list: readonly GraphStep[], graph: Topology, loop: string): Topology {
  const own = topology(list);
  for (const id of own.steps.keys()) {
    if (!hasStep(graph, id)) continue;
    const message = `a step outside of the loop has the id "${id.slice(0, 80)}" too`;
    own.problems.push({ step_id: id, path: 'id', code: 'duplicate_step_id', message });
  }
  return {
    ...own,
    outer: { graph, loop },
    isAncestor: (ancestor, of) =>
      own.steps.has(ancestor) ? own.isAncestor(ancestor, of) : graph.isAncestor(ancestor, loop),
  };
}

/** Whether a step of the graph, or of a graph around its loop, has the id. */
export function hasStep({ steps, outer }: Topology, id: string): boolean {
  return steps.has(id) || (outer !== null && hasStep(outer.graph, id));
}

/** How many loops the steps of the graph are in. */
export function nestingOf({ outer }: Topology): number {
  return outer === null ? 0 : 1 + nestingOf(outer.graph);
}

/** The loop, anywhere in the graph or around it, that contains a step with this id; undefined if there is none. */
export function loopWith({ steps, outer }: Topology, id: string): string | undefined {
  if (outer !== null) return loopWith(outer.graph, id);
  for (const step of steps.values()) {
    const inner = innerSteps(step);
    if (inner !== null && allSteps({ steps: inner }).some(each => each.id === id)) return step.id;
  }
  return undefined;
}
