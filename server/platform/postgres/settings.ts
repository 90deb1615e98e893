import { z } from 'zod';
import { integer, optional } from '../setting-types.ts';
import { connectionStringProblem } from './connection-string.ts';
import type { DatabaseOptions } from './database.ts';
import { REPLICATION_MODES } from './replication.ts';

export const databaseSchema = z.object({
  /** An external PostgreSQL 14+, one server or a list of them; absent = embedded. */
  DATABASE_URL: optional.superRefine((url, context) => {
    const problem = url === undefined ? undefined : connectionStringProblem(url);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
  BATON_DATA_DIR: z.string().default('.data'),
  BATON_DATABASE_POOL: integer(10, 4, 200),
  /** Whether an external PostgreSQL must replicate synchronously, or does it where no query shows it. */
  BATON_REPLICATION: z.enum(REPLICATION_MODES).default('warn'),
});

export function databaseSettings(
  read: z.output<typeof databaseSchema>,
  report: (problem: string) => void,
): Required<DatabaseOptions> {
  if (read.DATABASE_URL === undefined && read.BATON_REPLICATION === 'require')
    report('BATON_REPLICATION: require needs DATABASE_URL: the embedded PostgreSQL has no replicas');
  return {
    url: read.DATABASE_URL,
    dataDir: read.BATON_DATA_DIR,
    pool: read.BATON_DATABASE_POOL,
    replication: read.BATON_REPLICATION,
  };
}
