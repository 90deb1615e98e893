import { setTimeout as delay } from 'node:timers/promises';

/** The events that a guarded body reports. */
export type BodyWatch = {
  /**
   * Reports bytes as they arrive. May throw: the body then fails with that error, both for its
   * reader and for the network.
   */
  received(bytes: number): void;
  /** Reports the last `id:` in a part of an event stream. */
  eventId?(id: string): void;
  /** Rewrites the events of a stream: complete lines, and at its end what is left. */
  events?: { take(lines: Uint8Array): Uint8Array; end(rest: Uint8Array): Uint8Array } | undefined;
  /** Called once, when the body has ended for any reason. */
  ended(): void;
};

const lastLineEnd = (chunk: Uint8Array) => Math.max(chunk.lastIndexOf(0x0a), chunk.lastIndexOf(0x0d));

/**
 * Holds incomplete lines back. The SDK's parser reads an incomplete line again with every chunk that arrives: a server
 * that sends a long line byte by byte would cost quadratic time.
 */
class Lines {
  #held: Uint8Array[] = [];
  take(chunk: Uint8Array): Uint8Array {
    const end = lastLineEnd(chunk) + 1;
    if (end === 0) {
      this.#held.push(chunk);
      return new Uint8Array();
    }
    const whole = Buffer.concat([...this.#held, chunk.subarray(0, end)]);
    this.#held = end < chunk.length ? [chunk.subarray(end)] : [];
    return whole;
  }
  rest(): Uint8Array {
    return Buffer.concat(this.#held);
  }
}

/** Returns the value of the last `id:` line in complete lines of an event stream. */
function lastEventId(lines: Uint8Array): string | undefined {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString('utf8');
  let found: string | undefined;
  for (const match of text.matchAll(/(?:^|[\r\n])id: ?([^\r\n]*)/g)) found = match[1];
  return found;
}

/**
 * Each event costs 55 µs of the event loop that all tenants share. This many lines pass at once, and then as many per
 * second (a few hundred events). A server that sends more is read more slowly, and TCP slows it down.
 */
const LINES_AT_ONCE = 6_000;
const LINES_PER_SECOND = 1_500;
const MAX_PAUSE_MS = 1_000;

class Pace {
  #allowance = LINES_AT_ONCE;
  #since = performance.now();
  /** Returns how long to wait after these lines, in ms. */
  after(chunk: Uint8Array): number {
    const now = performance.now();
    const earned = ((now - this.#since) / 1_000) * LINES_PER_SECOND;
    this.#since = now;
    this.#allowance = Math.min(this.#allowance + earned, LINES_AT_ONCE);
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) this.#allowance--;
    return this.#allowance >= 0 ? 0 : Math.min((-this.#allowance / LINES_PER_SECOND) * 1_000, MAX_PAUSE_MS);
  }
}

/**
 * Returns a response body whose bytes and end are reported while it is read. `events`: it is an event stream,
 * passed on in complete lines.
 */
export function guardBody(
  body: ReadableStream<Uint8Array>,
  watch: BodyWatch,
  { events }: { events: boolean },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const lines = new Lines();
  const pace = new Pace();
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    watch.ended();
  };
  const readChunk = (chunk: Uint8Array): Uint8Array => {
    watch.received(chunk.byteLength);
    if (!events) return chunk;
    const whole = lines.take(chunk);
    const id = whole.byteLength > 0 ? lastEventId(whole) : undefined;
    if (id) watch.eventId?.(id);
    return whole;
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await reader.read();
          const read = done ? lines.rest() : readChunk(value);
          const pause = events ? pace.after(read) : 0;
          if (pause > 0) await delay(pause);
          const ready = (done ? watch.events?.end(read) : watch.events?.take(read)) ?? read;
          if (ready.byteLength > 0) controller.enqueue(ready);
          if (done) {
            controller.close();
            end();
          }
          if (done || ready.byteLength > 0) return;
        }
      } catch (error) {
        controller.error(error);
        end();
        await reader.cancel(error).catch(() => undefined);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
