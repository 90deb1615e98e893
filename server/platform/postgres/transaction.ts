import type { Pool, PoolClient } from 'pg';

/** Where SQL can be asked: the pool, or a client inside a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;

/** Runs `work` in one READ COMMITTED transaction of its own connection: committed when it settles, rolled back when it throws. */
export async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await transactOn(client, 'ordinary', work, cause => {
      broken = cause instanceof Error ? cause : new Error('rollback failed', { cause });
    });
  } finally {
    client.release(broken);
  }
}

/**
 * The same on a connection that the caller has. In a `snapshot` every statement sees the same instant, and what the transaction
 * itself has written. `lost` is told why it could not even be rolled back: such a connection is of no more use to anybody.
 */
export async function transactOn<C extends Queryable, T>(
  client: C,
  kind: 'ordinary' | 'snapshot',
  work: (client: C) => Promise<T>,
  lost: (cause: unknown) => void = () => undefined,
): Promise<T> {
  await client.query(kind === 'snapshot' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
  try {
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(lost);
    throw error;
  }
}
