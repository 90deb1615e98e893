import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, type SqlQueryable } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import type { Json } from '../json.ts';
import { markNumbers, reviveNumbers } from '../json-text.ts';
import { type Prisma, PrismaClient } from './generated/client.ts';

/** The connection of one of Prisma's transactions. `open` becomes false before its COMMIT or ROLLBACK is sent. */
export type TransactionConnection = { client: pg.ClientBase; open: boolean };
type Waiting = { connection?: TransactionConnection };

/** The call that is starting a transaction: Prisma does not report the connection on which it began. */
const waiting = new AsyncLocalStorage<Waiting>();

type StartedTransaction = Awaited<ReturnType<Awaited<ReturnType<PrismaPg['connect']>>['startTransaction']>>;

/**
 * Prisma's adapter, which also reports the connection of each transaction for which `withConnection` waits, and marks
 * the large integers in columns of JSON, because Prisma's client would round them.
 */
class ReportingAdapter extends PrismaPg {
  /** Whether any column had a marked number so far: most databases have none, and their results need no second pass. */
  hasMarked = false;

  override async connect() {
    const adapter = await super.connect();
    this.#markJson(adapter);
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async level => {
      const started = await start(level);
      this.#markJson(started);
      const call = waiting.getStore();
      if (call !== undefined && call.connection === undefined) call.connection = connectionOf(started);
      return started;
    };
    return adapter;
  }

  #markJson(on: SqlQueryable): void {
    const query = on.queryRaw.bind(on);
    on.queryRaw = async params => {
      const result = await query(params);
      for (const [column, type] of result.columnTypes.entries()) {
        if (type !== ColumnTypeEnum.Json) continue;
        for (const row of result.rows) {
          const text = row[column];
          if (typeof text !== 'string') continue;
          const marked = markNumbers(text);
          if (marked === text) continue;
          row[column] = marked;
          this.hasMarked = true;
        }
      }
      return result;
    };
  }
}

function connectionOf(started: StartedTransaction): TransactionConnection {
  const client: unknown = Reflect.get(started, 'client');
  if (!(client instanceof pg.Client))
    throw new Error("Prisma's adapter does not keep the connection in `client` any more.");
  const connection = { client, open: true };
  const execute = started.executeRaw.bind(started);
  // After Prisma's time limit the work may still be running, on a connection that the pool has given to another caller.
  started.executeRaw = query => {
    if (/^(COMMIT|ROLLBACK)$/i.test(query.sql.trim())) connection.open = false;
    return execute(query);
  };
  return connection;
}

/**
 * Calls `start`, which starts one of Prisma's transactions. Its connection is known once the transaction's work begins.
 */
export function withConnection<T>(start: (connection: () => TransactionConnection) => Promise<T>): Promise<T> {
  const call: Waiting = {};
  return waiting.run(call, () =>
    start(() => {
      if (call.connection === undefined) throw new Error('This Prisma client was not made by createPrismaClient.');
      return call.connection;
    }),
  );
}

/**
 * Creates Prisma's client on the connections of `pool`; `transact` shares its transactions with SQL.
 * The caller disconnects it.
 */
export function createPrismaClient(pool: pg.Pool): PrismaClient {
  const adapter = new ReportingAdapter(pool);
  const client = new PrismaClient({ adapter }).$extends({
    query: {
      async $allOperations({ args, query }) {
        const result: unknown = await query(args);
        return adapter.hasMarked ? reviveNumbers(result as Json) : result;
      },
    },
  });
  // The extension changes values of JSON only; its type has no `$on`, which nothing here uses.
  return client as PrismaClient;
}

/** Returns whether Prisma refused a write because a unique value is taken (P2002). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'P2002';
}

/**
 * Returns Prisma's filter for "after this row, newest first"; empty at the start of the list. `id` names the second
 * sort column. The bound on `createdAt` alone is redundant, but an index can start there, which it cannot at an OR.
 */
export function olderThan<Column extends string>(id: Column, key: readonly [number, string] | null) {
  if (key === null) return {};
  const createdAt = new Date(key[0]);
  return {
    AND: [{ createdAt: { lte: createdAt } }, { OR: [{ createdAt: { lt: createdAt } }, { [id]: { lt: key[1] } }] }],
  };
}

/**
 * Returns Prisma's filter for texts that contain `text`, ignoring case. Prisma does not escape the wildcards of ILIKE.
 */
export function containing(text: string): { contains: string; mode: 'insensitive' } {
  return { contains: escapeLike(text), mode: 'insensitive' };
}

/** Escapes `text` for use in a LIKE pattern. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Returns an ILIKE pattern for SQL that finds the text itself anywhere; null without a text. */
export function containsPattern(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : `%${escapeLike(text)}%`;
}

/**
 * Returns the value for a column of type json, stored as JSON.stringify writes it. Prisma 7 changes objects: it wraps
 * an inner object that has a key `$type`, and drops a key `__proto__`.
 */
export function exactJson(value: unknown): Prisma.InputJsonValue {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(value) }) };
}
