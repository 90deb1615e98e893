import type { Principal, StreamConnection } from '../operation/context.ts';
import type { StreamFrame } from '../operation/operation.ts';
import { type Alarm, systemAlarm } from '../platform/clock.ts';
import type { Credential, Headers } from './authenticate.ts';
import type { OpenStreams } from './open-streams.ts';
import type { StreamedText } from './request.ts';
import { closeCode } from './stream-socket.ts';

/** Proxies cut connections on which nothing has come for 30 to 60 s. */
const PING_EVERY_MS = 15_000;
/** The time after which a client reconnects, in ms. */
const RETRY_MS = 1_000;

/** Headers of a stream. Without them, nginx would delay the stream until its buffer is full. */
export const streamHeaders = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' } as const;

/** A client that may get a stream. */
export type StreamClient = {
  principal: Principal;
  credential: Credential;
  header: Headers;
  may(principal: Principal): boolean;
};

/**
 * One answer of server-sent events (WHATWG HTML, 9.2), from the request until its connection has ended. It counts as an open
 * stream from `open` on.
 */
export class EventStream {
  readonly #ended = new AbortController();
  #code: number = closeCode.normal;

  /** For the use case. */
  readonly connection: StreamConnection = {
    signal: this.#ended.signal,
    cut: () => this.#end(closeCode.tooSlow),
  };

  /** Ends the stream, because the client has left or the stream will not be sent. */
  abandon(): void {
    this.#end(closeCode.normal);
  }

  /**
   * Returns the text of the frames. Throws AppError 429 if too many streams are open, 503 while the server shuts down; then the stream
   * has ended.
   */
  open(
    streams: OpenStreams,
    client: StreamClient,
    frames: AsyncIterable<StreamFrame>,
    on: { alarm?: Alarm; check(frame: StreamFrame): void; failed(thrown: unknown): string },
  ): StreamedText {
    const { signal } = this.#ended;
    streams.count(client.principal, {
      get destroyed() {
        return signal.aborted;
      },
      once: (_, listener) => signal.addEventListener('abort', listener, { once: true }),
    });
    const { may, principal, credential, header } = client;
    const close = (why: 'unauthorized' | 'shutting_down') =>
      this.#end(why === 'unauthorized' ? closeCode.unauthorized : closeCode.goingAway);
    const unwatch = streams.watch({ principal, credential, header, may, close });
    streams.metrics.sockets.opened();
    const release = () => {
      unwatch();
      streams.metrics.sockets.closed(this.#code);
    };
    if (signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
    const abandon = () => this.abandon();
    return { text: textOf(frames, { alarm: systemAlarm, ...on, done: abandon }), ended: signal, abandon };
  }

  #end(code: number): void {
    if (this.#ended.signal.aborted) return;
    this.#code = code;
    this.#ended.abort();
  }
}

/** Yields the text of frames, with a periodic comment, so that proxies see a connection in use. */
async function* textOf(
  frames: AsyncIterable<StreamFrame>,
  on: { alarm: Alarm; check(frame: StreamFrame): void; failed(thrown: unknown): string; done(): void },
): AsyncGenerator<string, void> {
  const bell = new Bell(on.alarm);
  const iterator = frames[Symbol.asyncIterator]();
  try {
    // Sent at once: the client then knows that it is connected.
    yield `retry: ${RETRY_MS}\n\n`;
    let next = iterator.next();
    for (;;) {
      const result = await bell.unlessRung(next);
      if (result === undefined) {
        bell.set();
        yield ': ping\n\n';
        continue;
      }
      if (result.done) return;
      on.check(result.value);
      yield textOfFrame(result.value);
      next = iterator.next();
    }
  } catch (thrown) {
    yield `event: error\ndata: ${on.failed(thrown)}\n\n`;
  } finally {
    bell.cancel();
    // This comes first: it ends the frames, which would otherwise wait for the next frame.
    on.done();
    await iterator.return?.();
  }
}

/** Returns an event with one line of data, because JSON has no line breaks. */
function textOfFrame({ id, json }: StreamFrame): string {
  return id === undefined ? `data: ${json}\n\n` : `id: ${id}\ndata: ${json}\n\n`;
}

/** A timer that rings when a ping is due, and can be set again. */
class Bell {
  readonly #alarm: Alarm;
  #wake: (rung: undefined) => void = () => undefined;
  #isRung = false;
  #cancel: () => void = () => undefined;

  constructor(alarm: Alarm) {
    this.#alarm = alarm;
    this.set();
  }

  set(): void {
    this.#isRung = false;
    this.#cancel = this.#alarm(PING_EVERY_MS, () => {
      this.#isRung = true;
      this.#wake(undefined);
    });
  }

  /**
   * Settles as `next` does, or with undefined if the bell rings first or has already rung. Promise.race with a promise of the
   * bell would retain memory for each frame until the bell rings.
   */
  unlessRung<T>(next: Promise<T>): Promise<T | undefined> {
    if (this.#isRung) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      next.then(resolve, reject);
    });
  }

  cancel(): void {
    this.#cancel();
  }
}
