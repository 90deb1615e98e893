import type { z } from 'zod';
import type { Context, StreamConnection } from '../../../operation/context.ts';
import { STREAM_DONE, type StreamFrame } from '../../../operation/operation.ts';
import type { AttemptPiece } from '../../../orchestrator/ports/live-text.ts';
import type { StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { BoundedQueue } from '../../../platform/bounded-queue.ts';
import { invalid, unavailable } from '../../../platform/errors.ts';
import { seqOf } from '../../runs/events/selection.ts';
import { MAX_BEHIND_BYTES } from '../../runs/events/stream.ts';
import { answerEventOfItem, readAnswerEvents } from '../answers/read-events.ts';
import { sendMessage } from '../messages/send.ts';
import { hasMore } from '../messages/store.ts';
import type { SendInput, StreamInput } from '../schemas.ts';
import type { ThreadRow } from '../threads/store.ts';
import { requireThread } from '../threads/view.ts';
import { AnswerFrames, type Frame } from './frames.ts';

type Target = { runId: string; after: number };

/**
 * GET /v1/chat/threads/{id}/stream: the active answer until its end, from its beginning or after the client's last event. Null if no answer
 * is active and the client has all events. Throws AppError 404, 422 for a malformed `Last-Event-ID`, 503.
 */
export async function streamThread(
  ctx: Context,
  { id, after }: z.output<typeof StreamInput>,
): Promise<AsyncIterable<StreamFrame> | null> {
  const thread = await requireThread(ctx, id);
  const cursor = cursorOf(lastEventId(ctx) ?? after);
  const target = await targetOf(ctx, thread, cursor);
  return target === null ? null : follow(ctx, thread, target);
}

/**
 * POST /v1/chat/threads/{id}/stream: sends a message and streams its answer. Throws the errors of `sendMessage`.
 */
export async function sendAndStream(
  ctx: Context,
  input: z.output<typeof SendInput>,
): Promise<AsyncIterable<StreamFrame> | null> {
  const thread = await requireThread(ctx, input.id);
  const { run_id: runId } = await sendMessage(ctx, input);
  return follow(ctx, thread, { runId, after: 0 });
}

/** Returns the answer of the client's cursor if it has more events, else the active answer. */
async function targetOf(
  ctx: Context,
  { id, tenant_id, active_run_id }: ThreadRow,
  cursor: Target | null,
): Promise<Target | null> {
  const thread = { tenantId: tenant_id, threadId: id };
  if (cursor !== null && (await hasMore(ctx.services.pool, thread, cursor))) return cursor;
  return active_run_id === null ? null : { runId: active_run_id, after: 0 };
}

function cursorOf(text: string | undefined): Target | null {
  if (text === undefined) return null;
  const [runId = '', seq = ''] = text.split(':');
  return { runId, after: Number(seq) };
}

function lastEventId({ headers }: Context): string | undefined {
  const text = headers.get('last-event-id');
  if (text === undefined || text === '') return undefined;
  if (/^[0-9a-f-]{36}:\d{1,9}$/.test(text)) return text;
  const details = [{ path: 'Last-Event-ID', message: 'must be the id of an event of this stream' }];
  throw invalid('The request is not valid.', details, 'validation_error');
}

function follow(ctx: Context, thread: ThreadRow, target: Target): AsyncIterable<StreamFrame> {
  const { services, stream, responseHeaders } = ctx;
  if (stream === undefined) throw new Error('An answer is streamed to a connection.');
  // Only the leader has the live text. A stream of another process would send nothing.
  if (!services.orchestrator.leads(thread.tenant_id))
    throw unavailable('not_leading', 'This server is not executing runs at the moment.');
  responseHeaders.set('X-Vercel-AI-UI-Message-Stream', 'v1');
  return framesOf(services, { ...target, tenantId: thread.tenant_id, workflowId: thread.workflow_id }, stream);
}

type Received = { item: StreamItem } | { piece: AttemptPiece };

/** The end of a stream. Other clients of the AI SDK's protocol than its own wait for it. */
const DONE: StreamFrame = { json: STREAM_DONE };

/** Subscribes before it reads the log, so that no event is missed. Events that are both received and read are sent once. */
async function* framesOf(
  services: Context['services'],
  { tenantId, workflowId, runId, after }: Target & { tenantId: string; workflowId: string },
  { signal, cut }: StreamConnection,
): AsyncGenerator<StreamFrame, void> {
  const received = new BoundedQueue<Received>(MAX_BEHIND_BYTES);
  const end = () => received.end();
  const add = (each: Received, bytes: number) => {
    if (!received.push(each, bytes)) cut();
  };
  const unsubscribe = services.orchestrator.subscribe(
    { tenantId, workflowId, runId },
    items => {
      for (const item of items) add({ item }, JSON.stringify(item).length);
    },
    end,
  );
  const { written, unfollow } = services.liveText.follow(runId, piece => add({ piece }, 64 + sizeOfPiece(piece)));
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const frames = new AnswerFrames({ runId, after });
  const wire = (frame: Frame) => wireOf(frame, runId);
  let last = 0;
  try {
    for await (const event of readAnswerEvents(services, { tenantId, runId })) {
      if (signal.aborted) return;
      last = event.seq;
      for (const frame of frames.event(event)) yield wire(frame);
    }
    for (const piece of written) for (const frame of frames.piece(piece)) yield wire(frame);
    if (frames.isEnded) return yield DONE;
    for await (const each of received) {
      if (signal.aborted) return;
      // Not `yield*`, which awaits each frame of a list three times.
      if ('piece' in each) for (const frame of frames.piece(each.piece)) yield wire(frame);
      else {
        const seq = seqOf(each.item);
        if (seq <= last) continue;
        // An event is missing. The stream ends here, and the client reads the event from the log when it reconnects.
        if (seq > last + 1) return;
        last = seq;
        for (const frame of frames.event(await answerEventOfItem(services, each.item))) yield wire(frame);
      }
      if (frames.isEnded) return yield DONE;
    }
  } finally {
    signal.removeEventListener('abort', end);
    unfollow();
    unsubscribe();
  }
}

const sizeOfPiece = (piece: AttemptPiece): number => (piece.type === 'tool_call' ? piece.name : piece.text).length;

function wireOf({ seq, chunk }: Frame, runId: string): StreamFrame {
  return { ...(seq !== undefined && { id: `${runId}:${seq}` }), json: JSON.stringify(chunk) };
}
