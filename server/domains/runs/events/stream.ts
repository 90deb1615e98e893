import type { z } from 'zod';
import type { Context, StreamConnection } from '../../../operation/context.ts';
import type { StreamFrame } from '../../../operation/operation.ts';
import { isTerminal } from '../../../orchestrator/core/index.ts';
import type { CommittedEvent, RejectedStart, StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { BoundedQueue } from '../../../platform/bounded-queue.ts';
import { invalid, notFound, unavailable } from '../../../platform/errors.ts';
import { runScope } from '../access/find.ts';
import { requireReader } from '../access/readers.ts';
import { findRejection, findRun } from '../store.ts';
import type { StreamEventsInput } from './schemas.ts';
import { endsRun, eventOf, replayPages, Selection, type StreamTarget, seqOf } from './selection.ts';

/**
 * The maximum number of bytes of JSON that may wait for a slow client before it is disconnected
 * (docs/specification/events.md#server-sent-events).
 */
export const MAX_BEHIND_BYTES = 1024 * 1024;

/**
 * GET /v1/workflows/{id}/runs/{runID}/stream: sends the events of a run after the last one that the client has, from
 * the log and then as they are committed, until the run has ended. Returns null if the run has ended and the client has
 * all its events. Throws AppError 404, 422 and 503.
 */
export async function streamEvents(
  ctx: Context,
  input: z.output<typeof StreamEventsInput>,
): Promise<AsyncIterable<StreamFrame> | null> {
  const { pool, orchestrator } = ctx.services;
  const { principal, stream } = ctx;
  if (stream === undefined) throw new Error('Events are streamed to a connection.');
  const after = lastEventId(ctx) ?? input.after ?? 0;
  const scope = runScope(ctx, input);
  const run = await findRun(pool, scope);
  if (run === null && (await findRejection(pool, scope)) === null) throw notFound('Run');
  if (run !== null) await requireReader(ctx, run);
  const ended = run === null || isTerminal(run.status);
  if (ended && after >= (run === null ? 1 : run.last_seq)) return null;
  // Only the leader receives live events; a stream of another process would send nothing.
  if (!ended && !orchestrator.leads(principal.tenantId)) {
    throw unavailable('not_leading', 'This server is not executing runs at the moment.');
  }
  const { workflowId, runId } = scope;
  const target = { principal, workflowId, query: { runId, after }, runId, after, ended };
  return framesOf(ctx.services, target, stream);
}

/** Returns the number of the last event that a client has, which it sends when it reconnects. */
function lastEventId({ headers }: Context): number | undefined {
  const text = headers.get('last-event-id');
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const details = [{ path: 'Last-Event-ID', message: 'must be the id of an event of the run' }];
  throw invalid('The request is not valid.', details, 'validation_error');
}

/**
 * Subscribes first and holds live events back while it reads the log, so that none is missed. Ends after the last event
 * of the run, when the feed is interrupted, or when the client is too far behind. In the last two cases the client
 * reconnects and resumes.
 */
async function* framesOf(
  { orchestrator, pool }: Context['services'],
  target: StreamTarget & { runId: string; after: number; ended: boolean },
  { signal, cut }: StreamConnection,
): AsyncGenerator<StreamFrame, void> {
  const { workflowId, runId, principal, query } = target;
  const live = new BoundedQueue<StreamItem>(MAX_BEHIND_BYTES);
  const add = (item: StreamItem) => {
    if (item.item.projectId !== principal.projectId) return;
    if (!live.push(item, Buffer.byteLength(frameOf(item).json))) cut();
  };
  const end = () => live.end();
  const unsubscribe = orchestrator.subscribe(
    { tenantId: principal.tenantId, workflowId, runId },
    items => items.forEach(add),
    end,
  );
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const selection = new Selection(query);
  try {
    for await (const page of replayPages({ pool }, target)) {
      for (const item of page) {
        if (signal.aborted) return;
        yield frameOf(item);
        selection.last = seqOf(item);
        if (endsRun(item)) return;
      }
    }
    if (target.ended) return;
    for await (const item of live) {
      const { fresh, gap } = selection.take([item]);
      if (gap || signal.aborted) return;
      for (const each of fresh) {
        yield frameOf(each);
        if (endsRun(each)) return;
      }
    }
  } finally {
    signal.removeEventListener('abort', end);
    unsubscribe();
  }
}

/** The frame of each item, shared by all streams. */
const frames = new WeakMap<CommittedEvent | RejectedStart, StreamFrame>();

function frameOf(streamItem: StreamItem): StreamFrame {
  const known = frames.get(streamItem.item);
  if (known) return known;
  const frame = { id: String(seqOf(streamItem)), json: JSON.stringify(eventOf(streamItem)) };
  frames.set(streamItem.item, frame);
  return frame;
}
