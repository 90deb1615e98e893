import type { Queryable } from './transaction.ts';

/** Reads the database's own clock, in ms since the epoch. */
export type DatabaseClock = (db: Queryable) => Promise<number>;

/**
 * The one place where SQL reads a clock: everything else takes its time from the injected one. It is a second opinion on that
 * clock, for what a wrong one would destroy.
 */
export const readDatabaseClock: DatabaseClock = async db => {
  const { rows } = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const now = rows[0]?.now;
  if (now === undefined) throw new Error('The database did not tell its time.');
  return now.getTime();
};
