import type { Pool } from 'pg';
import { addedId, rootOf } from '../../../orchestrator/core/step-ids.ts';
import { ByteCache } from '../../../platform/byte-cache.ts';
import type { RunRow } from '../store.ts';
import { findSteps, type NamedStep } from './failed-step-store.ts';

type Failed = { run: RunRow; step: string };

/** A version never changes, so a name is read once, although lists are read every few seconds. */
const CACHE_BYTES = 1_000_000;
const BYTES_OF_AN_ENTRY = 200;
// One per database pool, not one per module: two containers in a process (tests) share nothing.
const caches = new WeakMap<Pool, ByteCache<string | null>>();

/**
 * Returns the names of the steps that failed runs, by the id of the run. A step in a loop has the name that its author
 * gave it there.
 */
export async function namesOfFailedSteps(
  pool: Pool,
  tenantId: string,
  runs: readonly RunRow[],
): Promise<ReadonlyMap<string, string>> {
  const cache = caches.get(pool) ?? new ByteCache<string | null>(CACHE_BYTES);
  caches.set(pool, cache);
  const failed = runs.flatMap((run): Failed[] => (run.error === null ? [] : [{ run, step: run.error.step_id }]));
  // Each step once: if a hundred runs fail at one step, its graph is read once.
  const byKey = new Map(failed.map(each => [keyOf(each), each]));
  const missing = [...byKey.values()].filter(each => cache.get(keyOf(each)) === undefined);
  const steps =
    missing.length === 0
      ? []
      : await findSteps(
          pool,
          tenantId,
          missing.map(({ run, step }) => ({ workflowId: run.workflow_id, version: run.version, step: rootOf(step) })),
        );
  const read = new Map(missing.map((each, index) => [keyOf(each), nameOf(steps[index] ?? null, each.step)]));
  for (const [key, name] of read) cache.set(key, name, BYTES_OF_AN_ENTRY + 2 * (key.length + (name?.length ?? 0)));
  return new Map(
    failed.flatMap(each => {
      const name = read.get(keyOf(each)) ?? cache.get(keyOf(each)) ?? null;
      return name === null ? [] : [[each.run.id, name]];
    }),
  );
}

const keyOf = ({ run, step }: Failed): string => `${run.workflow_id} ${run.version} ${step}`;

function nameOf(root: NamedStep | null, id: string): string | null {
  const step = stepIn(root, id);
  return typeof step?.name === 'string' && step.name.trim() !== '' ? step.name : null;
}

/** Returns the step that an id in a run names. `root` is the authored step under which the step was added. */
function stepIn(root: NamedStep | null, id: string): NamedStep | null {
  const added = addedId(id);
  if (root === null || added === null) return root;
  const loop = stepIn(root, added.parent);
  const inner: readonly NamedStep[] = Array.isArray(loop?.steps) ? loop.steps : [];
  return inner.find(step => step.id === added.name) ?? null;
}
