import { eventOf } from '../domains/runs/events/selection.ts';
import type { CommittedEvent, RejectedStart, StreamItem } from '../orchestrator/ports/orchestrator.ts';

/**
 * Frames are kept as their bytes on the wire (RFC 6455, 5.2), so that a commit is one write on each of its sockets and
 * the same bytes go to all of them. `ws` would frame and write each event again for each socket: 19 µs a frame instead
 * of 13, of which the system's write takes 8 (200 sockets, four events in two commits).
 */
export const readyFrame = textFrame('{"type":"ready"}');

/** Frames by their item, shared by all sockets and replays. */
const frames = new WeakMap<CommittedEvent | RejectedStart, Buffer>();
/** All frames of a publication, by the array that every listener gets. */
const batches = new WeakMap<readonly StreamItem[], Buffer>();

/** Returns the text frame of an item (docs/specification/events.md#frames). */
export function frameOf(streamItem: StreamItem): Buffer {
  const known = frames.get(streamItem.item);
  if (known) return known;
  const frame = textFrame(JSON.stringify({ type: 'event', event: eventOf(streamItem) }));
  frames.set(streamItem.item, frame);
  return frame;
}

/** Returns the frames of all items in sequence. They are created once for listeners that share the array. */
export function framesOf(items: readonly StreamItem[]): Buffer {
  const [only] = items;
  if (only && items.length === 1) return frameOf(only);
  const known = batches.get(items);
  if (known) return known;
  const batch = Buffer.concat(items.map(frameOf));
  batches.set(items, batch);
  return batch;
}

/** Returns one unmasked, final text frame. */
function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = 0x81; // FIN, text
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
}
