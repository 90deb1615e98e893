import type { Alarm } from './clock.ts';

type Limits = {
  alarm: Alarm;
  /** The maximum time that `work` may take. */
  ms: number;
  /** Names `work` in the error: "the lock attempt". */
  what: string;
  signal: AbortSignal;
  /** Settles when `work` has become pointless, with the reason. */
  lost?: Promise<unknown>;
};

/**
 * Settles like `work`. Rejects earlier when the time is up, the signal aborts or `lost` settles; `work` then continues,
 * and its outcome is ignored.
 */
export function within<T>(work: Promise<T>, { alarm, ms, what, signal, lost }: Limits): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => settle(() => reject(signal.reason));
    const cancel = alarm(ms, () => settle(() => reject(new Error(`${what} was not answered within ${ms} ms`))));
    const settle = (act: () => void) => {
      cancel();
      signal.removeEventListener('abort', abort);
      act();
    };
    work.then(
      value => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
    void lost?.then(cause => settle(() => reject(cause)));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** Resolves after `ms`, or when the signal aborts. */
export function pause(alarm: Alarm, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise(resolve => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = alarm(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Settles when `done` does, or after `ms`. */
export function atMost(alarm: Alarm, ms: number, done: Promise<unknown>): Promise<void> {
  return new Promise(resolve => {
    const cancel = alarm(ms, resolve);
    void done.then(() => {
      cancel();
      resolve();
    });
  });
}
