import pg from 'pg';
import type { Config } from '../../operation/config.ts';
import { reason, StartupError } from '../../platform/postgres/startup-error.ts';
import { loadConfig } from '../../process/load-config.ts';
import type { Outcome } from '../command-line.ts';

/** The services of the commands in this folder. `signal` aborts on SIGINT and SIGTERM. */
export type BackupServices = { config: Config; signal: AbortSignal };

/**
 * Reads the configuration and runs `work`. The first SIGINT or SIGTERM aborts it, so that it cleans up; the second one ends the process.
 * Errors of the database and of its connection become one line.
 */
export async function openBackup(work: (services: BackupServices) => Promise<Outcome>): Promise<Outcome> {
  const config = loadConfig();
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
  try {
    return await work({ config, signal: interruption.signal });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (interruption.signal.aborted) throw new StartupError('Interrupted: nothing was changed.', { cause: error });
    throw isOfDatabase(error) ? new StartupError(`The database failed: ${reasonOf(error)}`, { cause: error }) : error;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt);
  }
}

const isOfDatabase = (error: unknown): error is Error =>
  error instanceof pg.DatabaseError ||
  error instanceof AggregateError ||
  (error instanceof Error && ('syscall' in error || /^(Connection terminated|timeout expired)/.test(error.message)));

/** Node reports a host with several addresses as an AggregateError without a message. */
const reasonOf = (error: Error) =>
  error instanceof AggregateError ? error.errors.map(reason).join(', ') : reason(error);
