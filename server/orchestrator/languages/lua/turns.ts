import type { TenantQueue } from './queue.ts';

/**
 * Workers beyond `size`, for tenants that have no worker. Each takes ~30 MiB, and ~200 MiB at worst: Lua's 64 MiB and
 * its own heap.
 */
export const MAX_EXTRA_WORKERS = 6;
/** How many workers are kept for scripts that were never displaced, once only the extra workers are left. */
const RESERVED_WORKERS = 2;
/**
 * How long a script may run, in ms, before another tenant's script may take its worker. Doubled each time the script is
 * displaced.
 */
const QUANTUM_MS = 1_000;
const MAX_QUANTUM_MS = 64_000;

/** The properties of a worker's batch on which turns depend. */
export type RunningBatch = {
  readonly tenant: string;
  readonly long: boolean;
  /** How often the current script was displaced. */
  readonly displaced: number;
  /** The time at which the worker took the current script, in ms. */
  readonly atSince: number;
};

/** The tenant that goes next: from which queue, and which batch it displaces if all workers are busy. */
export type Turn<B> = { readonly tenant: string; readonly isDisplaced: boolean; readonly inPlaceOf: B | undefined };

/**
 * Decides which tenant gets a worker now.
 *
 * Tenants are served round robin. A tenant that has workers gets another one only while fewer than `size` are busy. A
 * tenant without a worker gets the next free one or, if the busy ones are `long`, one of MAX_EXTRA_WORKERS beyond
 * `size`.
 *
 * If all of these are busy, a multilevel feedback queue keeps endless scripts from excluding other tenants: a tenant
 * without a worker displaces the script that is furthest beyond its quantum. The displaced script waits in a separate
 * queue and starts again later with twice the quantum (scripts have no side effects). Half of the workers are for
 * displaced scripts, and up to all but RESERVED_WORKERS while no other scripts wait. So with T tenants before it, a
 * tenant gets a worker within about T / RESERVED_WORKERS seconds, whatever scripts the others run, and long scripts end
 * too.
 */
export function nextTurn<B extends RunningBatch>(
  batches: readonly B[],
  queues: { fresh: TenantQueue<unknown>; displaced: TenantQueue<unknown> },
  { size, now }: { size: number; now: number },
): Turn<B> | undefined {
  if (queues.fresh.isEmpty && queues.displaced.isEmpty) return undefined;
  const most = size + MAX_EXTRA_WORKERS;
  const displacedRunning = batches.filter(batch => batch.displaced > 0).length;
  const mayAddDisplaced = displacedRunning < most - RESERVED_WORKERS;
  const halfDisplaced = Math.floor(most / 2);
  const isFree = batches.length < size;
  if (!isFree && batches.filter(batch => !batch.long).length >= size) return undefined;
  const served = new Set(batches.map(batch => batch.tenant));
  const mayRun = isFree ? () => true : (tenant: string) => !served.has(tenant);
  const mayReplace = (batch: B) => mayAddDisplaced || batch.displaced > 0;
  const mayYield = (batch: B) => displacedRunning > halfDisplaced || batch.displaced === 0;
  const pick = (isDisplaced: boolean): Turn<B> | undefined => {
    if (isDisplaced && !mayAddDisplaced && batches.length < most) return undefined;
    const tenant = (isDisplaced ? queues.displaced : queues.fresh).next(mayRun);
    if (tenant === undefined) return undefined;
    if (batches.length < most) return { tenant, isDisplaced, inPlaceOf: undefined };
    const victim = overdue(batches.filter(isDisplaced ? mayReplace : mayYield), now);
    return victim && { tenant, isDisplaced, inPlaceOf: victim };
  };
  return displacedRunning < halfDisplaced ? (pick(true) ?? pick(false)) : (pick(false) ?? pick(true));
}

/** Returns the batch whose script is furthest beyond its quantum, or undefined. */
function overdue<B extends RunningBatch>(batches: readonly B[], now: number): B | undefined {
  let found: B | undefined;
  let most = 1;
  for (const batch of batches) {
    const beyond = (now - batch.atSince) / quantumOf(batch.displaced);
    if (!batch.long || beyond < most) continue;
    found = batch;
    most = beyond;
  }
  return found;
}

/** Returns the quantum of a script that was displaced this often, in ms. */
export const quantumOf = (displaced: number): number => Math.min(MAX_QUANTUM_MS, QUANTUM_MS * 2 ** displaced);
