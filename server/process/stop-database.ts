/**
 * Ends the embedded PostgreSQL that a killed service left running, as `npm start` does when it is stopped before it has
 * started the service again. Does nothing where none runs, or where another Baton uses it.
 */
import { readConfig } from '../operation/config.ts';
import { createLogger } from '../platform/logger.ts';
import { stopLeftBehind } from '../platform/postgres/running.ts';
import { reason } from '../platform/postgres/startup-error.ts';

try {
  const { database, log } = readConfig();
  if (database.url === undefined) await stopLeftBehind(database.dataDir, createLogger(log.level));
} catch (error) {
  process.stderr.write(`baton: ${reason(error)}\n`);
  process.exitCode = 1;
}
