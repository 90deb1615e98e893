import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Config } from '../../operation/config.ts';
import { DatabaseClient } from '../../platform/postgres/client.ts';
import { findEmbedded } from '../../platform/postgres/running.ts';
import { reason } from '../../platform/postgres/startup-error.ts';
import { NoWriterError } from '../../platform/postgres/writer-search.ts';
import { type Finding, problem } from './finding.ts';

/** The database as the doctor found it. `password`: that of the embedded one, which no output may have. */
export type Opened = { client: pg.Client; url: string; password?: string; close(): Promise<void> };

const CHECK = 'database';
/** How long a session may take to end. */
const END_MS = 1_000;

/** Opens one session on the configured database, and starts nothing. Returns a finding where there is none to ask. */
export async function openToLook({ url, dataDir }: Config['database']): Promise<Opened | Finding> {
  if (url !== undefined) return connect(url);
  const found = await findEmbedded(dataDir);
  switch (found.state) {
    case 'running': {
      const opened = await connect(found.url);
      return 'client' in opened ? { ...opened, password: found.password } : opened;
    }
    case 'absent':
      return problem(
        CHECK,
        `There is no database in ${found.folder}.`,
        'Set BATON_DATA_DIR or DATABASE_URL to what Baton uses; the first start makes the database.',
      );
    case 'unreadable':
      return problem(
        CHECK,
        `The data folder ${found.folder} cannot be read (${found.code}).`,
        'Run the command as the account that runs Baton.',
      );
    case 'stopped':
      return problem(
        CHECK,
        `The embedded PostgreSQL in ${found.folder} does not run, and this command starts nothing: the database was not looked at.`,
        'npm start, then look again.',
      );
  }
}

async function connect(url: string): Promise<Opened | Finding> {
  const socket = new Socket();
  const client = new DatabaseClient({
    connectionString: url,
    application_name: 'baton-doctor',
    connectionTimeoutMillis: 5_000,
    // Also where not even the error of a statement arrives.
    query_timeout: 10_000,
    stream: () => socket,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const close = async () => {
      // A server that does not answer would keep the command waiting.
      await Promise.race([client.end().catch(() => undefined), delay(END_MS, undefined, { ref: false })]);
      socket.destroy();
    };
    return { client, url, close };
  } catch (error) {
    socket.destroy();
    return unreachable(error);
  }
}

const REASONS: Readonly<Record<string, [text: string, advice: string]>> = {
  ENOTFOUND: ['The host in DATABASE_URL has no address', 'Correct the host name, or the name service.'],
  EAI_AGAIN: ['The name service does not answer for the host in DATABASE_URL', 'Look at the name service.'],
  ECONNREFUSED: ['Nothing listens where DATABASE_URL leads', 'Start PostgreSQL, or correct host and port.'],
  ECONNRESET: ['The server ended the connection', 'Look at its log, and at TLS (sslmode).'],
  ENOENT: ['There is no socket where DATABASE_URL leads', 'Start PostgreSQL, or correct the path.'],
  '28P01': ['The database refuses the user or the password', 'Correct DATABASE_URL.'],
  '28000': ['The database refuses the user', 'Correct DATABASE_URL, or pg_hba.conf of the server.'],
  '3D000': ['The server has no database of this name', 'Create it, or correct DATABASE_URL.'],
  '53300': ['The database has no connection left', 'Raise max_connections, or lower BATON_DATABASE_POOL.'],
  '57P03': ['The database starts or stops', 'Wait, then look again.'],
};

/** The reasons are our own words: a message of the server repeats parts of DATABASE_URL, perhaps of a password with a slash. */
function unreachable(error: unknown): Finding {
  const one = error instanceof AggregateError ? error.errors[0] : error;
  if (one instanceof NoWriterError)
    return problem(CHECK, one.message, 'Start or promote the primary (docs/operations.md, Several servers).');
  const code = (one as { code?: unknown }).code;
  const known = typeof code === 'string' ? REASONS[code] : undefined;
  if (known !== undefined) return problem(CHECK, `${known[0]} (${code}).`, known[1]);
  const isSilent = /timeout/i.test(reason(one));
  if (isSilent)
    return problem(CHECK, 'The database does not answer within 5 s.', 'Look at its network and its firewall.');
  const said = one instanceof pg.DatabaseError ? `it answers ${code ?? 'an error'}` : reason(one);
  return problem(
    CHECK,
    `The database cannot be used: ${said}.`,
    'Correct DATABASE_URL, or look at the log of the server.',
  );
}
