import { toWireEvent, type WireEvent } from '../orchestrator/log/index.ts';
import type { CommittedEvent, RejectedStart, StreamItem } from '../orchestrator/orchestrator.ts';
import { isoTimestamp } from '../platform/clock.ts';

export const readyFrame = Buffer.from('{"type":"ready"}');

/** Frames by the item they say: an event goes to all its sockets in one serialisation (200 sockets on one workflow). */
const frames = new WeakMap<CommittedEvent | RejectedStart, Buffer>();

/** The text frame of an item (decisions.md, WebSocket). */
export function frameOf({ kind, item }: StreamItem): Buffer {
  const known = frames.get(item);
  if (known) return known;
  const event = kind === 'event' ? toWireEvent(item) : rejectedEvent(item);
  const frame = Buffer.from(JSON.stringify({ type: 'event', event }));
  frames.set(item, frame);
  return frame;
}

/** The place of an item in its run; a refused start is its run's one event. */
export function seqOf({ kind, item }: StreamItem): number {
  return kind === 'event' ? item.seq : 1;
}

function rejectedEvent(rejected: RejectedStart): WireEvent {
  return {
    seq: 1,
    event_type: 'run_rejected',
    run_id: rejected.runId,
    workflow_id: rejected.workflowId,
    data: { code: rejected.code, message: rejected.message },
    created_at: isoTimestamp(rejected.at),
  };
}
