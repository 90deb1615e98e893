import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { withDatabase } from '../platform/postgres/cluster.ts';
import { runBaton } from '../testing/commands.ts';

const admin = withDatabase(inject('batonTemplate').url, 'postgres');

/** Runs one statement in a session of its own. */
async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

test('two at a time migrate an empty database once; then it is up to date, and one of a newer version is refused', async () => {
  const name = `baton_migrate_command_${process.pid}`;
  await execute(admin, `CREATE DATABASE ${name}`);
  const url = withDatabase(admin, name);
  const migrate = (...args: string[]) => runBaton(['migrate', ...args], { DATABASE_URL: url });
  try {
    const both = await Promise.all([migrate('--json'), migrate('--json')]);
    const applied = both.map(({ out }) => (JSON.parse(out) as { applied: string[] }).applied.length);
    expect([both.map(({ code }) => code), applied.toSorted()]).toEqual([
      [0, 0],
      [0, Math.max(...applied)],
    ]);
    expect(Math.max(...applied)).toBeGreaterThan(0);
    expect(await migrate()).toEqual({ code: 0, err: '', out: 'The database is up to date.\n' });

    await execute(url, "UPDATE _prisma_migrations SET migration_name = '9999_newer' WHERE migration_name LIKE '0001%'");
    expect(await migrate()).toEqual({
      code: 1,
      out: '',
      err: 'baton: The database has migration 9999_newer, which this version of Baton does not know: it was made by a newer version.\n',
    });
  } finally {
    await execute(admin, `DROP DATABASE ${name} WITH (FORCE)`);
  }
});

test('without an external database there is one line', async () => {
  expect(await runBaton(['migrate'], {})).toEqual({
    code: 1,
    out: '',
    err: 'baton: DATABASE_URL is not set: the embedded database is migrated when Baton starts.\n',
  });
});
