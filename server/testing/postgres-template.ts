import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { withDatabase } from '../platform/postgres/cluster.ts';
import { migrate } from '../platform/postgres/migrate.ts';

/** A migrated database for copying, and the server on which copies are created. */
export type Template = {
  url: string;
  /** The clause that makes CREATE DATABASE copy files; empty for PostgreSQL 14, which has no such clause and always copies files. */
  strategy: string;
};

/** Creates the template on the server that `serverUrl` names. Throws what PostgreSQL or the migration throws. */
export async function createTemplate(serverUrl: string): Promise<Template> {
  const name = `baton_template_${process.pid}_${randomBytes(4).toString('hex')}`;
  await query(serverUrl, `CREATE DATABASE ${name}`);
  const url = withDatabase(serverUrl, name);
  await migrate(url);
  const [version] = await query(serverUrl, 'SHOW server_version_num');
  return { url, strategy: Number(version?.server_version_num) < 150_000 ? '' : 'STRATEGY file_copy' };
}

/** Copies the template (~30 ms with FILE_COPY, ~45 ms with WAL_LOG, ~250 ms by migrating). Returns the URL of the copy. */
export async function copyTemplate({ url, strategy }: Template): Promise<string> {
  const name = `baton_test_${randomBytes(8).toString('hex')}`;
  const template = new URL(url).pathname.slice(1);
  await query(withDatabase(url, 'postgres'), `CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`);
  return withDatabase(url, name);
}

/** Drops a database with all its sessions; does nothing if it does not exist. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await query(withDatabase(url, 'postgres'), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** Runs a statement on a separate connection. Returns the rows. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
