import type { Logger } from '../../../platform/logger.ts';
import type { ActiveRunCounts } from '../../log/index.ts';
import { type Shards, shardOf } from '../../shards/slot.ts';
import type { Runtime } from '../runtime.ts';

type Parts = {
  /** The number of shards of the deployment. */
  shards: number;
  runtime: Runtime;
  logger: Logger;
  count(shards: Shards): Promise<ActiveRunCounts>;
  /** Reads what other processes survived and died of, before any run is loaded. */
  prepare(): Promise<unknown>;
  /** Recovers the runs of these shards; settles when all are loaded, or this process no longer leads. */
  recover(shards: Shards): Promise<unknown>;
  /** Ends the streams of these workspaces. */
  interrupt(isOf: (tenantId: string) => boolean): void;
};

/** Begins and ends the execution of the runs of shards, whose locks the session holds. */
export class ShardExecutor {
  readonly #parts: Parts;
  readonly #recovering = new Set<number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Executes the runs of these shards. Rejects if their active runs cannot be counted, and then changes nothing. */
  async take(shards: readonly number[]): Promise<void> {
    const { runtime, count, prepare, recover } = this.#parts;
    const among = this.#among(shards);
    const [{ byTenant, byStatus }] = await Promise.all([count(among), prepare()]);
    runtime.take(shards, byTenant);
    runtime.observer.runsTaken(byStatus);
    for (const shard of shards) this.#recovering.add(shard);
    void recover(among).finally(() => {
      for (const shard of shards) this.#recovering.delete(shard);
    });
  }

  /** Stops executing the runs of a shard; resolves with false, and changes nothing, if it is too busy for that. */
  async give(shard: number, signal: AbortSignal): Promise<boolean> {
    const { runtime, logger, count, interrupt, shards } = this.#parts;
    if (this.#recovering.has(shard) || !(await runtime.give(shard, signal))) return false;
    interrupt(tenantId => shardOf(tenantId, shards) === shard);
    try {
      runtime.observer.runsGiven((await count(this.#among([shard]))).byStatus);
    } catch (error) {
      logger.debug({ err: error, shard }, 'the runs of a shard that was given could not be counted');
    }
    return true;
  }

  #among(led: readonly number[]): Shards {
    return { count: this.#parts.shards, led: new Set(led) };
  }
}
