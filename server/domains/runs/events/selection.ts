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

/** Events read per round trip of a replay: 100 of the largest inline ones (16 KiB) stay under what may wait for a socket. */
const REPLAY_PAGE_SIZE = 100;

/** Which live items a reader has not seen: of a single run, those after the last one sent. */
export class Selection {
  last: number;
  readonly #query: StreamQuery;

  constructor(query: StreamQuery) {
    this.#query = query;
    this.last = query.after ?? 0;
  }

  /**
   * The items to send, as the same array where that is all of them. `gap`: after them something was committed that was not handed
   * over; the log has it, and a client that resumes gets it.
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

/** The logged events of a run after `after`, page by page; of a start that was refused, its one event. */
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
    const mine = page
      .filter(event => event.workflowId === workflowId && event.projectId === scope.projectId)
      .map((item): StreamItem => ({ kind: 'event', item }));
    const end = mine.at(-1);
    if (!end) break;
    yield mine;
    last = seqOf(end);
    if (page.length < REPLAY_PAGE_SIZE) break;
  }
  if (last > 0) return;
  const rejection = await findRejection(services.pool, scope);
  if (!rejection) return;
  yield [{ kind: 'rejected', item: rejection }];
}

/** The event of an item as frames say it. */
export function eventOf({ kind, item }: StreamItem): WireEvent {
  return kind === 'event' ? toWireEvent(item) : rejectedEvent(item);
}

/** The place of an item in its run; a refused start is its run's one event. */
export function seqOf({ kind, item }: StreamItem): number {
  return kind === 'event' ? item.seq : 1;
}

/** The one event of a start that was refused. */
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

/** Whether an item is the last of its run. */
export function endsRun(of: StreamItem): boolean {
  if (of.kind === 'rejected') return true;
  const { event } = of.item;
  return event.type === 'state_changed' && isTerminal(event.data.to);
}
