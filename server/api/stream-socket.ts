import { WebSocket } from 'ws';
import { findRejection } from '../domains/runs/store.ts';
import { readEvents } from '../orchestrator/log/index.ts';
import type { StreamItem } from '../orchestrator/orchestrator.ts';
import type { Services } from '../services.ts';
import type { Principal } from './context.ts';
import { frameOf, readyFrame, seqOf } from './stream-frames.ts';
import type { StreamQuery } from './stream-query.ts';

/** Bytes that may wait for a client before it counts as too slow; two events of the largest size fit. */
const maxBuffered = 4 * 1024 * 1024;
/** Live items held back while the replay runs; more mean that the client does not keep up. */
const maxHeld = 10_000;
/** Events read per round trip of a replay: 100 of the largest inline ones (16 KiB) stay under `maxBuffered`. */
const replayPage = 100;

/** Close codes beyond the protocol's own. */
export const closeCode = { goingAway: 1001, internal: 1011, restart: 1012, unauthorized: 4003, tooSlow: 4008 } as const;

export type StreamTarget = { principal: Principal; workflowId: string; query: StreamQuery };

/**
 * Feeds one socket: subscribes first and holds live items back, replays the log after `after`, says `ready`, sends what was held
 * (less what the replay already showed), then goes live. So there is no gap and no duplicate. Returns when live; the
 * subscription ends with the socket.
 */
export async function feed(services: Services, socket: WebSocket, target: StreamTarget): Promise<void> {
  const { principal, workflowId, query } = target;
  let held: StreamItem[] | null = [];
  let last = 0;
  const send = (item: StreamItem) => {
    if (query.runId === undefined) return sendFrame(socket, frameOf(item));
    const seq = seqOf(item);
    if (seq <= last) return;
    // Something between was committed and not handed over: the log has it, and a client that resumes gets it.
    if (query.after !== undefined && seq > last + 1) return closeToResume(socket);
    last = seq;
    sendFrame(socket, frameOf(item));
  };
  const unsubscribe = services.orchestrator.subscribe(
    { tenantId: principal.tenantId, workflowId, ...(query.runId === undefined ? {} : { runId: query.runId }) },
    items => {
      const mine = items.filter(({ item }) => item.projectId === principal.projectId);
      if (!held) mine.forEach(send);
      else if (held.push(...mine) > maxHeld) closeSlow(socket);
    },
    () => closeToResume(socket),
  );
  socket.once('close', unsubscribe);
  if (query.runId !== undefined && query.after !== undefined) {
    last = query.after;
    last = await replay(services, socket, { ...target, runId: query.runId, after: query.after });
  }
  sendFrame(socket, readyFrame);
  held.forEach(send);
  held = null;
}

/** Sends the logged events after `after` and returns the last seq sent. Waits for the client page by page. */
async function replay(
  services: Services,
  socket: WebSocket,
  { principal, workflowId, runId, after }: StreamTarget & { runId: string; after: number },
): Promise<number> {
  const scope = { tenantId: principal.tenantId, projectId: principal.projectId, workflowId, runId };
  let last = after;
  while (socket.readyState === WebSocket.OPEN) {
    const page = await readEvents(services.pool, { tenantId: scope.tenantId, runId, after: last, limit: replayPage });
    const mine = page.filter(event => event.workflowId === workflowId && event.projectId === scope.projectId);
    for (const item of mine.slice(0, -1)) sendFrame(socket, frameOf({ kind: 'event', item }));
    const end = mine.at(-1);
    if (!end) break;
    await sendFlushed(socket, frameOf({ kind: 'event', item: end }));
    last = end.seq;
    if (page.length < replayPage) break;
  }
  if (last > 0) return last;
  const rejection = await findRejection(services.pool, scope);
  if (!rejection) return 0;
  const { code, message, created_at } = rejection;
  sendFrame(socket, frameOf({ kind: 'rejected', item: { ...scope, at: created_at.getTime(), code, message } }));
  return 1;
}

function sendFrame(socket: WebSocket, frame: Buffer): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  if (socket.bufferedAmount > maxBuffered) closeSlow(socket);
  else socket.send(frame, { binary: false });
}

function sendFlushed(socket: WebSocket, frame: Buffer): Promise<void> {
  return new Promise(resolve => {
    if (socket.readyState !== WebSocket.OPEN) resolve();
    else socket.send(frame, { binary: false }, () => resolve()); // an error closes the socket, which ends the replay
  });
}

function closeSlow(socket: WebSocket): void {
  if (socket.readyState === WebSocket.OPEN) socket.close(closeCode.tooSlow, 'reads too slowly; resume with ?after=');
}

/** 1012 (service restart): the live feed was interrupted; the client comes back and replays what it has not seen. */
function closeToResume(socket: WebSocket): void {
  if (socket.readyState === WebSocket.OPEN)
    socket.close(closeCode.restart, 'the feed was interrupted; resume with ?after=');
}
