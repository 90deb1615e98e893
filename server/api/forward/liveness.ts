import type { Alarm } from '../../platform/clock.ts';

/** How long a forwarded request is awaited before its node is asked for the first time: nearly all have been answered by then. */
const FIRST_PROBE_MS = 4_000;
const NEXT_PROBE_MS = 1_000;
/** Probes in succession that must fail: one may be lost in a pause of the other node. */
const FAILURES = 2;

type Watched = { gone: Set<() => void>; cancel: () => void };

/**
 * Asks the nodes of which something is expected whether they are there. A machine that has lost its power or its network ends no
 * connection, and a request that waits for a run may rightly be silent for a minute; so only another request can tell. A node is
 * given up within 4 s + 2 × 3 s + 1 s of its last sign of life.
 */
export class Liveness {
  readonly #watched = new Map<string, Watched>();
  readonly #alarm: Alarm;
  readonly #isAlive: (url: string) => Promise<boolean>;

  constructor(alarm: Alarm, isAlive: (url: string) => Promise<boolean>) {
    this.#alarm = alarm;
    this.#isAlive = isAlive;
  }

  /** Calls `gone` once when the node at `url` does not answer; the returned function ends the watch. */
  watch(url: string, gone: () => void): () => void {
    const watched = this.#watched.get(url) ?? this.#begin(url);
    watched.gone.add(gone);
    return () => {
      watched.gone.delete(gone);
      if (watched.gone.size === 0) this.#end(url, watched);
    };
  }

  close(): void {
    for (const [url, watched] of this.#watched) this.#end(url, watched);
  }

  #begin(url: string): Watched {
    const watched: Watched = { gone: new Set(), cancel: () => undefined };
    this.#watched.set(url, watched);
    this.#probeAfter(url, watched, { ms: FIRST_PROBE_MS, failures: 0 });
    return watched;
  }

  #end(url: string, watched: Watched): void {
    watched.cancel();
    if (this.#watched.get(url) === watched) this.#watched.delete(url);
  }

  #probeAfter(url: string, watched: Watched, { ms, failures }: { ms: number; failures: number }): void {
    watched.cancel = this.#alarm(ms, () => {
      watched.cancel = () => undefined;
      void this.#isAlive(url).then(alive => {
        if (this.#watched.get(url) !== watched) return;
        const failed = alive ? 0 : failures + 1;
        if (failed < FAILURES) {
          this.#probeAfter(url, watched, { ms: alive ? FIRST_PROBE_MS : NEXT_PROBE_MS, failures: failed });
          return;
        }
        this.#end(url, watched);
        for (const each of watched.gone) each();
      });
    });
  }
}
