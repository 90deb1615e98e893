import { createLogger } from '../platform/logger.ts';
import { migrateExternal } from '../platform/postgres/database.ts';
import { StartupError } from '../platform/postgres/startup-error.ts';
import { loadConfig } from '../process/load-config.ts';
import { type Outcome, operatorCommand } from './command-line.ts';

async function migrate(): Promise<Outcome> {
  const { database } = loadConfig();
  if (database.url === undefined)
    throw new StartupError('DATABASE_URL is not set: the embedded database is migrated when Baton starts.');
  const names = await migrateExternal(database.url, database.replication, createLogger('silent'));
  const text = names.length === 0 ? 'The database is up to date.' : `Migrated the database: ${names.join(', ')}.`;
  return { text, value: { applied: names } };
}

/** `migrate`. Exit code 0: the database fits this version; 1: it was refused, with one line. Running processes go on. */
export const migration = operatorCommand<undefined>(
  (command, run) =>
    command.option('--json', 'print one JSON document').action(({ json }) => run(migrate, json ? { json } : {})),
  work => work(undefined),
);
