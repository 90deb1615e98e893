import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { ReadableItems } from '../domains/runs/access/readers.ts';
import { replayPages, Selection, type StreamTarget, seqOf } from '../domains/runs/events/selection.ts';
import type { Services } from '../operation/services.ts';
import type { StreamItem } from '../orchestrator/ports/orchestrator.ts';
import { frameOf, framesOf, readyFrame } from './stream-frames.ts';

/** Bytes that may wait for a client before it counts as too slow; two events of the largest size fit. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Live items held back while the replay runs; more mean that the client does not keep up. */
const MAX_HELD_ITEMS = 10_000;

/** Close codes, the protocol's and our own. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  internal: 1011,
  restart: 1012,
  unauthorized: 4003,
  tooSlow: 4008,
} as const;

/** Service restart: the live feed was interrupted. The client reconnects and replays the events that it has not received. */
export const INTERRUPTED = { code: closeCode.restart, reason: 'the feed was interrupted; resume with ?after=' };

/**
 * A WebSocket and its connection, to which finished frames are written directly. Their order with the frames of `ws` (pings,
 * pongs, close) is preserved, because `ws` writes immediately without compression.
 */
export type FedSocket = { socket: WebSocket; raw: Duplex };

/**
 * Feeds one socket without gaps or duplicates: subscribes and buffers live items, replays the log after `after`, sends `ready`,
 * sends the buffered items that the replay did not contain, then sends live items directly. Returns when live; the subscription
 * ends with the socket. `readable`: the items that the caller may read.
 */
export async function feed(
  services: Services,
  to: FedSocket,
  target: StreamTarget,
  readable: ReadableItems,
): Promise<void> {
  const { socket } = to;
  const { principal, workflowId, query } = target;
  const selection = new Selection(query);
  let held: StreamItem[] | null = [];
  const send = (items: readonly StreamItem[]) => {
    const { fresh, gap } = selection.take(items);
    sendItems(to, fresh);
    if (gap) closeToResume(socket);
  };
  const hear = (items: readonly StreamItem[]) => {
    const isMine = ({ item }: StreamItem) => item.projectId === principal.projectId;
    // If all items are for this socket, the same array is used, so that sockets share its frames.
    const readableItems = items.every(isMine) ? items : items.filter(isMine);
    if (!held) send(readableItems);
    else if (held.push(...readableItems) > MAX_HELD_ITEMS) closeSlow(socket);
  };
  const interrupted = () => closeToResume(socket);
  const unsubscribe = services.orchestrator.subscribe(
    { tenantId: principal.tenantId, workflowId, ...(query.runId === undefined ? {} : { runId: query.runId }) },
    readable.listener(hear, interrupted),
    interrupted,
  );
  socket.once('close', unsubscribe);
  if (query.runId !== undefined && query.after !== undefined) {
    selection.last = await replay(services, to, { ...target, runId: query.runId, after: query.after });
  }
  sendFrame(to, readyFrame);
  send(held);
  held = null;
}

/** Sends the logged events after `after` and returns the last seq sent. Waits for the client page by page. */
async function replay(
  services: Services,
  to: FedSocket,
  target: StreamTarget & { runId: string; after: number },
): Promise<number> {
  let last = target.after;
  for await (const page of replayPages(services, target)) {
    if (to.socket.readyState !== WebSocket.OPEN) break;
    const end = page.at(-1);
    if (!end) break;
    sendItems(to, page.slice(0, -1));
    await sendFlushed(to, frameOf(end));
    last = seqOf(end);
  }
  return last;
}

/** Sends all items in one write if the buffer has room for them; otherwise frame by frame, until a frame exceeds it. */
function sendItems(to: FedSocket, items: readonly StreamItem[]): void {
  // A closing socket gets no more frames. They would keep the process busy while the client has 5 s to read the close.
  if (items.length === 0 || to.socket.readyState !== WebSocket.OPEN) return;
  const frames = framesOf(items);
  if (to.socket.bufferedAmount + frames.byteLength <= MAX_BUFFERED_BYTES) sendFrame(to, frames);
  else for (const item of items) sendFrame(to, frameOf(item));
}

function sendFrame({ socket, raw }: FedSocket, frame: Buffer): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) closeSlow(socket);
  else raw.write(frame);
}

function sendFlushed({ socket, raw }: FedSocket, frame: Buffer): Promise<void> {
  return new Promise(resolve => {
    if (socket.readyState !== WebSocket.OPEN) resolve();
    else raw.write(frame, () => resolve()); // an error closes the socket, which ends the replay
  });
}

function closeSlow(socket: WebSocket): void {
  if (socket.readyState === WebSocket.OPEN) socket.close(closeCode.tooSlow, 'reads too slowly; resume with ?after=');
}

function closeToResume(socket: WebSocket): void {
  if (socket.readyState === WebSocket.OPEN) socket.close(INTERRUPTED.code, INTERRUPTED.reason);
}
