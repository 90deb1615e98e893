import pg from 'pg';

/**
 * Tables and views with json values from earlier versions that PostgreSQL may refuse to read; each has a view that makes them
 * readable.
 */
const TABLES_OF_LOGS = /\b(?:run_(?:events|payloads)|expanded_run_events)\b/g;

/**
 * Codes with which PostgreSQL refuses to read a field of a json value: because of \u0000 (untranslatable_character),
 * and because of half a surrogate pair (invalid_text_representation).
 */
const UNREADABLE_CODES = new Set(['22P05', '22P02']);

type Query = (text: unknown, ...rest: unknown[]) => Promise<unknown>;

/**
 * Makes a pool repeat a read of logs that PostgreSQL refuses, on views in which U+FFFD stands for what it cannot read. Not every
 * read uses the views, because they scan each value and unreadable logs are rare. Only reads outside of transactions are
 * repeated, because a refusal ends a transaction. Returns the pool.
 */
export function readOldLogs(pool: pg.Pool): pg.Pool {
  const query = pool.query.bind(pool) as Query;
  const repeated: Query = (statement, ...rest) =>
    query(statement, ...rest).catch(error => {
      const isUnreadable = error instanceof pg.DatabaseError && UNREADABLE_CODES.has(error.code ?? '');
      const text = isUnreadable ? readableText(statement) : null;
      if (text === null) throw error;
      return typeof statement === 'string'
        ? query(text, ...rest)
        : query({ ...Object(statement), text, name: undefined });
    });
  pool.query = repeated as typeof pool.query;
  return pool;
}

/** Returns the statement's text on the views; null if it reads no logs, or writes. */
function readableText(statement: unknown): string | null {
  const text: unknown = typeof statement === 'string' ? statement : Object(statement).text;
  if (typeof text !== 'string' || !/^\s*(?:SELECT|WITH)\b/i.test(text)) return null;
  const readable = text.replaceAll(TABLES_OF_LOGS, 'readable_$&');
  return readable === text ? null : readable;
}
