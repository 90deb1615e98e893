import type { Mutation } from './mutations.ts';

const MORE = { calls: 80 } as const;

/** Ways to break rows that stand for many skips, and the limits of the runs beneath a run. */
export const SKIPS: readonly Mutation[] = [
  {
    name: 'the skips of one row have one number',
    file: 'log/compact-skips.ts',
    find: 'seq: row.seq + expanded.length,',
    replace: 'seq: row.seq,',
    caughtBy: ['sequence'],
  },
  {
    name: 'a row of many skips has the number of its last one',
    file: 'log/compact-skips.ts',
    find: 'filter(isCompactable), firstSeq + index));',
    replace: 'filter(isCompactable), firstSeq + index + count - 1));',
    caughtBy: ['sequence'],
  },
  {
    name: 'the event behind many skips is written with a number of theirs',
    file: 'log/compact-skips.ts',
    find: 'rows.push(encodeEvent(event, firstSeq + index, payloads));',
    replace: 'rows.push(encodeEvent(event, firstSeq + rows.length, payloads));',
    caughtBy: ['sequence'],
  },
  {
    name: 'all skips of a row get the reason of the first',
    file: 'log/compact-skips.ts',
    find: 'if (last?.reason === data.reason) last.steps.push(step);',
    replace: 'if (last !== undefined) last.steps.push(step);',
    caughtBy: ['skips', 'stream', 'replay', 'projection'],
  },
  {
    name: 'the last of many skips is lost',
    file: 'log/compact-skips.ts',
    find: 'rows.push(compactRow(events.slice(index, index + count).filter(',
    replace: 'rows.push(compactRow(events.slice(index, index + count - 1).filter(',
    caughtBy: ['sequence', 'projection', 'endings'],
  },
  {
    name: 'the stream does not number the events of a turn one by one',
    file: 'turn/turn.ts',
    find: 'const seq = this.#firstSeq + index;',
    replace: 'const seq = this.#entry?.rows[index]?.seq ?? this.#firstSeq + index;',
    caughtBy: ['stream'],
  },
  {
    name: 'the runs beneath a run are not limited',
    file: 'runtime/runs/descendants.ts',
    find: 'if (family.started >= maxDescendants)',
    replace: 'if (family.started > 1e9 + maxDescendants)',
    caughtBy: ['descendants'],
    knobs: MORE,
  },
  {
    name: 'the runs that are active beneath a run are not limited',
    file: 'runtime/runs/descendants.ts',
    find: 'if (family.active >= maxActiveDescendants)',
    replace: 'if (family.active > 1e9 + maxActiveDescendants)',
    caughtBy: ['descendants'],
    knobs: MORE,
  },
  {
    name: 'a new leader forgets which runs are beneath a run',
    file: 'runtime/runs/descendants.ts',
    find: 'this.#families.set(root, { started, active: Math.max(0, active - ended), tenants: new Set() });',
    replace: 'this.#families.set(root, { started: 0 * started, active: 0 * (active - ended), tenants: new Set() });',
    caughtBy: ['descendants'],
    knobs: MORE,
  },
  {
    name: 'each run that calls others is at the top of its own',
    file: 'core/lineage.ts',
    find: 'return { root: parent.root ?? parent.run_id, depth: parent.depth };',
    replace: 'return { root: runId, depth: parent.depth };',
    caughtBy: ['descendants'],
    knobs: MORE,
  },
];
