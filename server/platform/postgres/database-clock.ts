import type { Queryable } from './transaction.ts';

/** Reads the database's own clock, in ms since the epoch. */
export type DatabaseClock = (db: Queryable) => Promise<number>;

/**
 * The only place where SQL reads a clock: everything else gets the time from the injected one. It is compared with that
 * clock before an operation to which a wrong one would be destructive.
 */
export const readDatabaseClock: DatabaseClock = async db => {
  const { rows } = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const now = rows[0]?.now;
  if (now === undefined) throw new Error('The database did not tell its time.');
  return now.getTime();
};
