import type { Principal } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { isTerminal } from '../../../orchestrator/core/index.ts';
import { readEvents, toWireEvent, type WireEvent } from '../../../orchestrator/log/index.ts';
import type { RejectedStart, StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { findRejection } from '../store.ts';

/** Selects the events of one run, or of all runs of a workflow. `after` is allowed only with `runId`. */
export type StreamQuery = { runId?: string; after?: number };

/** The events that a reader of a workflow's stream requested. */
export type StreamTarget = { principal: Principal; workflowId: string; query: StreamQuery };

/**
 * Events read per round trip of a replay: 100 of the largest inline ones (16 KiB) stay below the limit of bytes that
 * may wait for a socket.
 */
const REPLAY_PAGE_SIZE = 100;

/**
 * Selects the live items that a reader has not received. For a single run, these are the items after the last one sent.
 */
export class Selection {
  last: number;
  readonly #query: StreamQuery;

  constructor(query: StreamQuery) {
    this.#query = query;
    this.last = query.after ?? 0;
  }

  /**
   * Returns the items to send; if all are to be sent, it returns the same array. `gap`: an event was committed after
   * these items but not delivered live. The log contains it, so a client that resumes receives it.
   */
  take(items: readonly StreamItem[]): { fresh: readonly StreamItem[]; gap: boolean } {
    const { runId, after } = this.#query;
    if (runId === undefined) return { fresh: items, gap: false };
    const fresh: StreamItem[] = [];
    for (const item of items) {
      const seq = seqOf(item);
      if (seq <= this.last) continue;
      if (after !== undefined && seq > this.last + 1) return { fresh, gap: true };
      this.last = seq;
      fresh.push(item);
    }
    return { fresh: fresh.length === items.length ? items : fresh, gap: false };
  }
}

/** Yields the logged events of a run after `after`, page by page. A refused start has one event. */
export async function* replayPages(
  services: Pick<Services, 'pool'>,
  { principal, workflowId, runId, after }: StreamTarget & { runId: string; after: number },
): AsyncGenerator<readonly StreamItem[], void> {
  const scope = { tenantId: principal.tenantId, projectId: principal.projectId, workflowId, runId };
  let last = after;
  for (;;) {
    const page = await readEvents(services.pool, {
      tenantId: scope.tenantId,
      runId,
      after: last,
      limit: REPLAY_PAGE_SIZE,
    });
    const ownItems = page
      .filter(event => event.workflowId === workflowId && event.projectId === scope.projectId)
      .map((item): StreamItem => ({ kind: 'event', item }));
    const end = ownItems.at(-1);
    if (!end) break;
    yield ownItems;
    last = seqOf(end);
    if (page.length < REPLAY_PAGE_SIZE) break;
  }
  if (last > 0) return;
  const rejection = await findRejection(services.pool, scope);
  if (!rejection) return;
  yield [{ kind: 'rejected', item: rejection }];
}

/** Returns the event of an item in the form that frames have. */
export function eventOf({ kind, item }: StreamItem): WireEvent {
  return kind === 'event' ? toWireEvent(item) : rejectedEvent(item);
}

/** Returns the place of an item in its run. A refused start is the only event of its run. */
export function seqOf({ kind, item }: StreamItem): number {
  return kind === 'event' ? item.seq : 1;
}

/** Returns the one event of a refused start. */
export function rejectedEvent(rejected: RejectedStart): WireEvent {
  return {
    seq: 1,
    event_type: 'run_rejected',
    run_id: rejected.runId,
    workflow_id: rejected.workflowId,
    data: { code: rejected.code, message: rejected.message },
    created_at: isoTimestamp(rejected.at),
  };
}

/** Returns whether an item is the last of its run. */
export function endsRun({ kind, item }: StreamItem): boolean {
  if (kind === 'rejected') return true;
  const { event } = item;
  return event.type === 'state_changed' && isTerminal(event.data.to);
}
