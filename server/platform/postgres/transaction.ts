import type { Pool, PoolClient } from 'pg';
import type { Prisma, PrismaClient } from './generated/client.ts';
import { type TransactionConnection, withConnection } from './prisma.ts';

/** A target for SQL: the pool, or a client inside a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;

/** One transaction on one connection, for both: the models of Prisma's client, and `query` for SQL. */
export type Transaction = Prisma.TransactionClient & Queryable;

/**
 * Prisma's own limits are 2 s and 5 s. Transactions queue behind each other on a tenant's row, and
 * waiting is better than failing.
 */
const PRISMA_LIMITS = { maxWait: 10_000, timeout: 20_000 };

/**
 * Runs `work` in one READ COMMITTED transaction: committed when it resolves, rolled back when it throws. With the pool
 * it is for SQL only; with Prisma's client it is for both, and takes at most 20 s.
 */
export function transact<T>(on: Pool, work: (client: PoolClient) => Promise<T>): Promise<T>;
export function transact<T>(on: { prisma: PrismaClient }, work: (tx: Transaction) => Promise<T>): Promise<T>;
export function transact<T>(
  on: Pool | { prisma: PrismaClient },
  work: (tx: PoolClient & Transaction) => Promise<T>,
): Promise<T> {
  // Each overload gives `work` only the parts that its transaction has.
  return 'prisma' in on
    ? transactWithPrisma(on.prisma, tx => work(tx as PoolClient & Transaction))
    : transactOnPool(on, client => work(client as PoolClient & Transaction));
}

async function transactOnPool<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
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

function transactWithPrisma<T>(prisma: PrismaClient, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return withConnection(connection => prisma.$transaction(tx => work(withQuery(tx, connection())), PRISMA_LIMITS));
}

/** Returns `tx` with `query`, which throws once the transaction has ended. */
function withQuery(tx: Prisma.TransactionClient, connection: TransactionConnection): Transaction {
  const query = () => {
    if (!connection.open) throw new Error('The transaction has ended.');
    return connection.client.query.bind(connection.client);
  };
  return new Proxy(tx, {
    get: (target, key) => (key === 'query' ? query() : Reflect.get(target, key)),
  }) as Transaction;
}

/**
 * Runs a transaction on a connection that the caller already has. In a `snapshot` every statement sees the same
 * instant, and the writes of the transaction itself. `lost` is called with the error if the transaction could not even
 * be rolled back: such a connection can no longer be used.
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
