import type { Alarm } from '../../platform/clock.ts';

/** The delay of the first probe of a node. Nearly all forwarded requests are answered before it. */
const FIRST_PROBE_MS = 4_000;
const NEXT_PROBE_MS = 1_000;
/** The number of successive probes that must fail: one may be lost in a pause of the other node. */
const FAILURES = 2;

type Watched = { gone: Set<() => void>; cancel: () => void };

/**
 * Probes the nodes from which this node awaits answers. A machine that has lost its power or its network closes no connection, and
 * a request that waits for a run may be silent for a minute, so only another request shows whether the node is alive. A node is
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

  /** Calls `gone` once if the node at `url` does not answer. Returns a function that ends the watch. */
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
