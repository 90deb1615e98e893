import type { GraphStep } from '../core/index.ts';
import { ProblemList } from './problem-list.ts';

/** The order of steps. Step ids are unique here: later duplicates are left out. */
export type Topology = {
  readonly steps: ReadonlyMap<string, GraphStep>;
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  isAncestor(ancestor: string, of: string): boolean;
  readonly problems: ProblemList;
};

function dependenciesOf(step: GraphStep): string[] {
  return Array.isArray(step.depends_on) ? step.depends_on.filter(id => typeof id === 'string') : [];
}

/** The steps of one cycle in order, the first one again at the end; undefined where there is none. */
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
        // Walked from dependents to dependencies; shown the way the run would go.
        return [id, ...names.slice(names.indexOf(id) + 1).reverse(), id];
      } else if (!done.has(id)) enter(id);
    }
  }
  return undefined;
}

/** Ancestors as bit sets, one per step: 2,000 steps are 500 KB and a few milliseconds. */
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

/** Orders the steps and finds duplicate ids, unknown dependencies and cycles. With a cycle every step counts as an ancestor: one mistake is reported once. */
export function topology(list: readonly GraphStep[]): Topology {
  const steps = new Map<string, GraphStep>();
  const problems = new ProblemList();
  const dependents = new Map<string, string[]>();
  const report = (step_id: string, path: string, code: string, message: string) =>
    problems.push({ step_id, path, code, message });
  for (const step of list) {
    if (steps.has(step.id)) report(step.id, 'id', 'duplicate_step_id', `two steps have the id "${step.id}"`);
    else steps.set(step.id, step);
  }
  for (const step of steps.values()) {
    const seen = new Set<string>();
    for (const [at, id] of dependenciesOf(step).entries()) {
      const path = `depends_on[${at}]`;
      if (!steps.has(id)) report(step.id, path, 'unknown_dependency', `there is no step "${id.slice(0, 80)}"`);
      if (seen.has(id)) report(step.id, path, 'duplicate_dependency', `"${id.slice(0, 80)}" is named twice`);
      else (dependents.get(id) ?? dependents.set(id, []).get(id))?.push(step.id);
      seen.add(id);
    }
  }
  const cycle = findCycle(steps);
  if (cycle) report(cycle[0] ?? '', 'depends_on', 'cycle', `the steps wait for each other: ${cycle.join(' → ')}`);
  return { steps, dependents, problems, isAncestor: cycle ? () => true : ancestorSets(steps) };
}
