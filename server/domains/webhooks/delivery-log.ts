import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Services } from '../../operation/services.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import { groupCalls } from '../../platform/group-calls.ts';
import { newId } from '../../platform/ids.ts';
import {
  type DeliveryRow,
  insertDeliveries,
  isNoise,
  type NewDelivery,
  pruneDeliveries,
} from './deliveries-queries.ts';

type LogServices = Pick<Services, 'pool' | 'logger'>;
export type Delivery = Omit<DeliveryRow, 'id'> & { subscriptionId: string };

/** The maximum number of noisy refusals (`isNoise`) of a webhook that are recorded per minute: there may be thousands. */
export const MAX_NOISE_ROWS_PER_MINUTE = 10;
/** A webhook is pruned each time this many of its deliveries were recorded. */
const DELIVERIES_PER_PRUNING = 50;
/** The maximum number of webhooks that are counted. Beyond it, all counts are dropped, which only adds a few rows. */
const MAX_COUNTED_WEBHOOKS = 10_000;

type Noise = { minute: number; rows: number; dropped: number };

/** The log of one database. */
class DeliveryLog {
  readonly pending = new Set<Promise<void>>();
  readonly #noise = new Map<string, Noise>();
  readonly #sincePrune = new Map<string, number>();
  readonly #insert: (delivery: NewDelivery) => Promise<null>;
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#insert = groupCalls(
      delivery => delivery.id,
      async deliveries => {
        await insertDeliveries(pool, deliveries);
        return deliveries.map(() => null);
      },
    );
  }

  async write(delivery: Delivery): Promise<void> {
    const message = this.#recordedMessage(delivery);
    if (message === undefined) return;
    await this.#insert({ ...delivery, message, id: newId() });
    const { subscriptionId } = delivery;
    const since = this.#sincePrune.get(subscriptionId) ?? 0;
    if (this.#sincePrune.size >= MAX_COUNTED_WEBHOOKS) this.#sincePrune.clear();
    this.#sincePrune.set(subscriptionId, (since + 1) % DELIVERIES_PER_PRUNING);
    if (since === 0) await pruneDeliveries(this.#pool, subscriptionId);
  }

  /**
   * Returns the message to record; undefined if there are too many refusals. The next recorded message includes the
   * number of those that were not recorded.
   */
  #recordedMessage(delivery: Delivery): string | null | undefined {
    const { subscriptionId, message, received_at } = delivery;
    if (!isNoise(delivery)) return message;
    const minute = Math.floor(received_at.getTime() / MINUTE_MS);
    const known = this.#noise.get(subscriptionId);
    if (known?.minute === minute) {
      known.rows += 1;
      if (known.rows <= MAX_NOISE_ROWS_PER_MINUTE) return message;
      known.dropped += 1;
      return undefined;
    }
    if (this.#noise.size >= MAX_COUNTED_WEBHOOKS) this.#noise.clear();
    this.#noise.set(subscriptionId, { minute, rows: 1, dropped: 0 });
    if (known === undefined || known.dropped === 0) return message;
    return [message, `Before it, ${known.dropped} more refusals were not recorded.`].filter(Boolean).join(' ');
  }
}

// One per database pool, not one per module: two containers in a process (tests) share nothing.
const logs = new WeakMap<Pool, DeliveryLog>();

function logOf(pool: Pool): DeliveryLog {
  const present = logs.get(pool);
  if (present) return present;
  const created = new DeliveryLog(pool);
  logs.set(pool, created);
  return created;
}

/**
 * Records the outcome of a delivery, if the webhook exists. No caller waits for it: a refusal must not take longer if
 * the webhook exists, and a log that cannot be written must not fail the delivery.
 */
export function recordDelivery({ pool, logger }: LogServices, delivery: Delivery): void {
  const log = logOf(pool);
  // Written after the answer was sent: even sending a query takes some microseconds, which would reveal that the
  // webhook exists.
  const write = nextTurn()
    .then(() => log.write(delivery))
    .catch(error =>
      logger.warn({ err: error, webhook_id: delivery.subscriptionId }, 'a delivery could not be recorded'),
    )
    .finally(() => log.pending.delete(write));
  log.pending.add(write);
}

/** Waits for the deliveries that are being recorded. Call this before the pool is closed. */
export async function settleDeliveries({ pool }: Pick<Services, 'pool'>): Promise<void> {
  await Promise.all(logOf(pool).pending);
}
