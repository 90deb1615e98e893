import type { Alarm } from '../../../platform/clock.ts';
import { pause } from '../../../platform/deadlines.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { plan } from '../../shards/plan.ts';
import type { ShardExecutor } from '../runs/shard-executor.ts';
import type { LeaderSession } from './leadership.ts';

const LOOK_EVERY_MS = 250;
/** A shard that is free for this long is taken by any node: the one that should take it cannot. */
const FREE_FOR_MS = 3_000;
/** After this time, a shard whose attempts did not end is asked for again. */
const BUSY_FOR_MS = 10_000;
/** The time for which a shard stays here that the node for which it was meant did not take. */
const LEFT_FOR_MS = 60_000;

export type PlacementOptions = {
  cluster: Pick<Cluster, 'node' | 'placement' | 'whyNotLead'>;
  session: LeaderSession;
  executor: Pick<ShardExecutor, 'take' | 'give'>;
  /** Called after each look. */
  looked(): void;
  /** Monotonic, in ms. */
  elapsed: () => number;
  alarm: Alarm;
  logger: Logger;
};

/** Takes and gives shards until they are where the plan of all nodes has them. */
export class Placement {
  readonly #options: PlacementOptions;
  readonly #freeSince = new Map<number, number>();
  readonly #busyUntil = new Map<number, number>();

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  /** Follows the plan until `signal` aborts. Does not reject. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#follow(signal).catch(error =>
        this.#options.logger.error({ err: error }, 'shards could not be placed; trying again'),
      );
      if (!signal.aborted) this.#options.looked();
      await pause(this.#options.alarm, LOOK_EVERY_MS, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { cluster, session, elapsed } = this.#options;
    const seen = cluster.placement();
    // While nothing is known of the others, everything stays as it is.
    if (seen === null) return;
    const { id } = cluster.node;
    const owners = new Map(seen.owners);
    // The sight is up to a second old, and the session knows better what this node leads.
    for (const [shard, owner] of owners) if (owner === id) owners.delete(shard);
    for (const shard of session.shards) owners.set(shard, id);
    const planned = plan({ ...seen, owners });
    const now = elapsed();
    const wanted: number[] = [];
    for (let shard = 0; shard < seen.shards; shard++) {
      if (owners.has(shard)) {
        this.#freeSince.delete(shard);
        continue;
      }
      const since = this.#freeSince.get(shard) ?? now;
      this.#freeSince.set(shard, since);
      const isLeft = planned.has(shard) && now - since >= FREE_FOR_MS;
      if (planned.get(shard) === id || isLeft) wanted.push(shard);
      // The node that should lead it cannot: it is not given to that node again soon.
      if (planned.get(shard) !== id && isLeft) this.#busyUntil.set(shard, now + LEFT_FOR_MS);
    }
    if (wanted.length > 0 && cluster.whyNotLead() === null) await this.#take(wanted, signal);
    await this.#giveOne(planned, signal);
  }

  async #take(wanted: readonly number[], signal: AbortSignal): Promise<void> {
    const { session, logger } = this.#options;
    const granted = await Promise.all(wanted.map(shard => session.take(shard)));
    const shards = wanted.filter((_, index) => granted[index]);
    if (shards.length === 0 || signal.aborted) return;
    try {
      await this.#options.executor.take(shards);
      logger.info({ shards: shards.length, led: session.shards.size }, 'shards taken');
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ err: error, shards: shards.length }, 'shards could not be taken; trying again');
      await Promise.all(shards.map(shard => session.give(shard)));
    }
  }

  /** One at a time: where a node joins, the workspaces wait one after the other, and not all at once. */
  async #giveOne(planned: ReadonlyMap<number, string>, signal: AbortSignal): Promise<void> {
    const { cluster, session, logger, elapsed } = this.#options;
    for (const shard of session.shards) {
      const to = planned.get(shard);
      if (to === undefined || to === cluster.node.id || (this.#busyUntil.get(shard) ?? 0) > elapsed()) continue;
      if (await this.#options.executor.give(shard, signal)) {
        this.#busyUntil.delete(shard);
        await session.give(shard);
        logger.info({ shard, to }, 'shard given');
      } else this.#busyUntil.set(shard, elapsed() + BUSY_FOR_MS);
      return;
    }
  }
}
