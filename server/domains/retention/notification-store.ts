import type { ClientBase } from 'pg';

/** The maximum number of deliveries that one statement deletes. */
const BATCH = 5_000;

/** Deletes one batch of the notification deliveries from before `cutoff` (ms since the epoch). Returns how many. */
export async function deleteNotificationDeliveries(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM notification_deliveries WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM notification_deliveries WHERE created_at < to_timestamp($1::float8 / 1000) LIMIT ${BATCH}))`,
    [cutoff],
  );
  return rowCount ?? 0;
}

/** Returns how many deliveries are older than `cutoff`. */
export async function countNotificationDeliveries(client: ClientBase, cutoff: number): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    'SELECT count(*) FROM notification_deliveries WHERE created_at < to_timestamp($1::float8 / 1000)',
    [cutoff],
  );
  return Number(rows[0]?.count);
}
