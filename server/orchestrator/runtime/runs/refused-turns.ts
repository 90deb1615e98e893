import type { RunResources } from '../memory/run-resources.ts';
import type { LiveRun } from './live-run.ts';
import type { Message } from './mailbox.ts';
import { beingLoaded } from './refusals.ts';
import type { RunFinder } from './run-finder.ts';
import type { AttemptRef, RunKey } from './run-host.ts';

type Host = {
  /** The runs in memory. */
  live: Map<string, LiveRun>;
  finder: RunFinder;
  resources: RunResources;
  /** Folds the run again after a delay. */
  later(run: RunKey): void;
};

/** Continues runs after the database has refused a value in their entry. */
export class RefusedTurns {
  readonly #host: Host;
  /** The runs that decide no step ahead when they are loaded. */
  readonly #separately = new Set<string>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Whether the run, which is loaded now, must commit each step by itself. */
  takeSeparately(runId: string): boolean {
    return this.#separately.delete(runId);
  }

  /** Fails the attempts whose outcome contains a value that the database refuses: writing it again would fail again. */
  async fail(key: RunKey, outcomes: readonly AttemptRef[]): Promise<void> {
    try {
      const run = await this.#host.finder.find(key, true);
      run?.failAttempts(outcomes);
    } catch {
      this.#host.later(key);
    }
  }

  /**
   * Decides the messages of a turn again, which had decided steps ahead: this time each step is committed by itself, so
   * that the refusal shows whose value is at fault.
   */
  async decideAgain(refused: LiveRun, messages: readonly Message[]): Promise<void> {
    const { live, finder } = this.#host;
    const key = refused.identity;
    if (live.get(key.runId) === refused) live.delete(key.runId);
    this.#separately.add(key.runId);
    let run: LiveRun | null = null;
    let error: unknown = beingLoaded();
    try {
      run = await finder.find(key, true);
    } catch (thrown) {
      error = thrown;
      this.#host.later(key);
    }
    if (run !== null) {
      run.decideAgain(messages);
      return;
    }
    for (const { caller } of messages) caller?.reject(error);
    this.#host.resources.releaseResults(key.tenantId, messages);
  }
}
