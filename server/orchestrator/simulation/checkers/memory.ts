import { isExpandedAgent } from '../agents.ts';
import type { AuditedRun } from '../auditor.ts';
import type { ObservedRuntime } from '../observed-runtime.ts';
import type { Surroundings } from '../surroundings.ts';
import { Violation } from './violation.ts';

/** People's answers may exceed the budget: each takes a few hundred bytes. */
const ANSWERS_BYTES = 5_000;

/** Checks that the counted bytes are exactly those of the runs in memory. */
export function checkMemory(runtime: ObservedRuntime, resident: readonly AuditedRun[], attempts: number): void {
  const { memory, storedResults, uncommittedResults, limits } = runtime.resources;
  if (attempts === 0 && uncommittedResults.bytes !== 0)
    throw new Violation('memory', `${uncommittedResults.bytes} bytes of results are counted as uncommitted`);
  const bytes = resident.reduce((sum, { state }) => sum + state.residentBytes, 0);
  if (runtime.liveRuns === resident.length && memory.total !== bytes)
    throw new Violation('memory', `${memory.total} bytes are counted for runs that take ${bytes}`);
  if (attempts === 0 && storedResults.loadedBytes !== 0)
    throw new Violation('memory', `${storedResults.loadedBytes} bytes of results are held for no attempt`);
  if (storedResults.cachedBytes > limits.cacheBytes)
    throw new Violation('memory', `${storedResults.cachedBytes} bytes of results are kept`);
}

/** Checks that no run exceeds its memory budget. */
export function checkRunBudget(run: AuditedRun, { runBytes }: Pick<Surroundings, 'runBytes'>): void {
  if (run.state.bytes > runBytes + ANSWERS_BYTES)
    throw new Violation('memory', `${run.id} has ${run.state.bytes} bytes of ${runBytes}`);
}

/** Checks that, of the added steps, only those of items and agents that have not ended are in memory. */
export function checkAddedInMemory({ id: runId, state, history }: AuditedRun): void {
  for (const id of state.steps.keys()) {
    const { added } = history.step(id);
    if (added === null) continue;
    if (isExpandedAgent(history.step(added.parent))) {
      if (history.step(added.parent).end !== null)
        throw new Violation('memory', `"${id}" of ${runId} is in memory, and its agent has ended`);
      continue;
    }
    const within = `${added.parent}.${added.index}.`;
    const item = history.step(added.parent).children.filter(child => child.startsWith(within));
    if (item.every(child => history.step(child).end !== null))
      throw new Violation('memory', `"${id}" of ${runId} is in memory, and its item has ended`);
  }
}
