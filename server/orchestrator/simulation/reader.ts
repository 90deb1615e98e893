import type { Graph, RunEvent } from '../core/index.ts';
import { type ActiveRunCounts, type LogReader, type RunRead, toWakeUpTimer } from '../log/index.ts';
import { isAmong, type Shards } from '../shards/slot.ts';
import { type Database, decodeToFold, type RunsRow, type StoredRun } from './database.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

/** The same as the timeout of the service's pool. */
export const QUERY_TIMEOUT_MS = 9_000;

/** Reads the simulated database like log-reader.ts reads the real one; sometimes it is slow, and sometimes it fails. */
export function simulatedReader(database: Database, server: Server, at: Surroundings): LogReader {
  const readFrom = <T>(read: () => T, risk?: number): Promise<T> => answerOf(server, at, 'reading failed', read, risk);
  const rows = (shards: Shards): RunsRow[] =>
    [...database.runs.values()].map(({ row }) => row).filter(({ tenantId }) => isAmong(shards, tenantId));
  const open = (shards: Shards): RunsRow[] => rows(shards).filter(row => row.endedAt === null);
  return {
    readRuns: async (runIds, { skeleton, onLarge }) => {
      const deadly = skeleton !== true && runIds.some(runId => database.runs.has(runId) && at.scenario(runId).deadly);
      if (deadly) return dieOfLoading(server, at, onLarge);
      return await readFrom(() => {
        const runs = new Map<string, RunRead>();
        for (const [index, runId] of runIds.entries()) {
          // As if the runs before it had reached the limit in bytes.
          if (index > 0 && at.random.chance(0.1)) return { runs, left: runIds.slice(index) };
          const run = database.runs.get(runId);
          if (run !== undefined) runs.set(runId, at.trouble(0.02) ? unreadable(at) : readOf(run, skeleton === true));
        }
        return { runs, left: [] };
      });
    },
    readStored: (runId, ids) =>
      readFrom(() => {
        at.count('large result read');
        const payloads = database.runs.get(runId)?.payloads;
        return new Map(
          ids
            .flatMap(id => [...(payloads?.values() ?? [])].filter(payload => payload.id === id))
            .map(({ id, json }) => [id, json]),
        );
      }, 0.2),
    countActiveRuns: shards =>
      readFrom(() => {
        const { byTenant, byStatus }: ActiveRunCounts = { byTenant: new Map(), byStatus: new Map() };
        for (const { tenantId, status } of open(shards)) {
          byTenant.set(tenantId, (byTenant.get(tenantId) ?? 0) + 1);
          byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        }
        return { byTenant, byStatus };
      }),
    countDescendants: root =>
      readFrom(() => {
        const beneath = [...database.runs.values()].filter(({ row }) => row.root === root);
        return { started: beneath.length, active: beneath.filter(({ row }) => row.endedAt === null).length };
      }),
    movingRuns: (shards, before, limit) => {
      if (before === null) server.terms.taking();
      return readFrom(() => {
        const ids = open(shards)
          .filter(({ id, phase }) => phase !== 'blocked' && phase !== 'paused' && (before === null || id < before))
          .map(({ id }) => id);
        // Pages this small show whether the next page is requested.
        return ids.sort().reverse().slice(0, Math.min(limit, 2));
      });
    },
    childRuns: runIds =>
      readFrom(() =>
        runIds.flatMap(runId => {
          const row = database.runs.get(runId)?.row;
          if (row === undefined) return [];
          const error = row.error === null ? null : JSON.parse(row.error);
          return [{ runId, parentRunId: row.parent?.run_id ?? '', status: row.status, error, spent: row.credits }];
        }),
      ).catch(error => {
        server.missedLookup = true;
        throw error;
      }),
    idleCallers: (shards, before, limit) =>
      readFrom(() => {
        const callers = open(shards).flatMap(({ parent }) =>
          parent === undefined || parent.detached ? [] : [parent.run_id],
        );
        const ids = [...new Set(callers)].filter(id => {
          const row = database.runs.get(id)?.row;
          const rests =
            row !== undefined && (row.endedAt !== null || row.phase === 'blocked' || row.phase === 'paused');
          return rests && (before === null || id < before);
        });
        return ids.sort().reverse().slice(0, Math.min(limit, 2));
      }),
    wakeUpTimers: async shards => {
      const rows = await readFrom(() =>
        open(shards).filter(row => row.phase === 'blocked' && row.nextTimerAt !== null),
      );
      return rows.map(({ id, tenantId, nextTimerAt }) =>
        toWakeUpTimer({ id, tenant_id: tenantId, next_timer_at: storedTime(at, id, nextTimerAt ?? 0) }),
      );
    },
  };
}

function storedTime(at: Surroundings, runId: string, time: number): Date | number {
  const bad = at.badTime(runId);
  if (bad !== null) at.count('stored time of waking unusable');
  return bad ?? new Date(time);
}

/** Ends the process because the read is too large. */
async function dieOfLoading(server: Server, at: Surroundings, onLarge?: () => Promise<void>): Promise<never> {
  await onLarge?.();
  at.count('crash by a load');
  server.later(1, () => server.die());
  return new Promise(() => {});
}

function unreadable(at: Surroundings): RunRead {
  at.count('run not readable');
  return { ok: false, error: new Error('a row that cannot be decoded') };
}

function readOf(run: StoredRun, isSkeleton: boolean): RunRead {
  const { id: runId, tenantId, projectId, workflowId, version } = run.row;
  const events = decodeToFold(run, run.events);
  const read = isSkeleton ? events.map(withoutValues) : events;
  const rowSeq = run.row.lastSeq;
  return { ok: true, run: { runId, tenantId, projectId, workflowId, version, events: read }, rowSeq };
}

/** Removes every value, as if all were too large for a skeleton. */
function withoutValues(event: RunEvent): RunEvent {
  if (event.type === 'run_started')
    return { ...event, data: { ...event.data, input: {}, trigger_steps: {}, seed_results: {} } };
  if (event.type !== 'step_completed' || 'skipped' in event.data) return event;
  return { ...event, data: { ...event.data, result: null } };
}

/** Reads published versions. */
export function loadVersionOf(
  server: Server,
  at: Surroundings,
): (ref: { workflowId: string }) => Promise<Graph | null> {
  const graphs = new Map(
    [...at.scenarios.values()].flatMap(({ workflowId, graph, workflows }) => [
      [workflowId, graph],
      ...[...workflows].map(([id, called]) => [id, called.graph] as [string, Graph]),
    ]) as [string, Graph][],
  );
  return ({ workflowId }) => answerOf(server, at, 'graph not readable', () => graphs.get(workflowId) ?? null);
}

/**
 * Returns the database's answer, as of the time of the request. It is sometimes late, and never arrives if the process
 * is dead.
 */
export function answerOf<T>(server: Server, at: Surroundings, failure: string, read: () => T, risk = 0.04): Promise<T> {
  if (!server.seam()) return new Promise(() => {});
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const { poolDownMs } = server;
  if (poolDownMs > 0) {
    at.count('pool cut off');
    at.agenda.after(Math.min(poolDownMs, QUERY_TIMEOUT_MS), () =>
      server.later(0, () => reject(new Error('Query read timeout'))),
    );
    return promise;
  }
  const slow = at.trouble(0.03);
  if (slow) at.count('slow read');
  const fails = at.trouble(risk);
  if (fails) at.count(failure);
  at.agenda.after(at.random.below(slow ? 800 : 3), () => {
    // The answer reflects the moment when the database gave it.
    const answer = fails ? undefined : { value: read() };
    server.later(at.random.below(3), () => {
      if (answer === undefined) reject(new Error('canceling statement due to a fault'));
      else resolve(answer.value);
    });
  });
  return promise;
}
