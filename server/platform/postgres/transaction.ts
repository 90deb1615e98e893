import type { Pool, PoolClient } from 'pg';

/** Where SQL can be asked: the pool, or a client inside a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;

/** Runs `work` in one READ COMMITTED transaction of its own connection: committed when it settles, rolled back when it throws. */
export async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    try {
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      // A connection that cannot even roll back is of no more use to anybody.
      await client.query('ROLLBACK').catch((cause: unknown) => {
        broken = cause instanceof Error ? cause : new Error('rollback failed', { cause });
      });
      throw error;
    }
  } finally {
    client.release(broken);
  }
}
