import type pg from 'pg';
import { clockAhead } from '../../orchestrator/cluster/sight.ts';
import type { Clock } from '../../platform/clock.ts';
import { checkVersion } from '../../platform/postgres/database.ts';
import { readDatabaseClock } from '../../platform/postgres/database-clock.ts';
import { inspectMigrations } from '../../platform/postgres/migrate.ts';
import { expectOwnBackends } from '../../platform/postgres/own-backends.ts';
import { type ReplicationMode, readReplication } from '../../platform/postgres/replication.ts';
import { reason, StartupError } from '../../platform/postgres/startup-error.ts';
import { type Finding, type Learned, ok, problem, skipped, warning } from './finding.ts';
import {
  hasStatementStatistics,
  look,
  readConnections,
  readLongRunning,
  readServer,
  readServerSettings,
  readSizes,
  readSlowStatements,
} from './queries.ts';

/** Names the server. Also learns whether it holds data of Baton that can be used. */
export async function checkServer(db: pg.Client): Promise<Learned<boolean>> {
  const server = await look(db, readServer);
  const { number, version, database, address, inRecovery, isBaton, mayWrite, isEmpty } = server;
  const text = `PostgreSQL ${version}, database ${database}${address === null ? '' : ` at ${address}`}`;
  const facts = { version, database, address };
  const bad = (what: string, advice: string) => ({
    findings: [problem('database', `${text}: ${what}`, advice, facts)],
    learned: false,
  });
  try {
    checkVersion(number, version);
  } catch (error) {
    return bad(reason(error), 'Upgrade PostgreSQL.');
  }
  if (inRecovery) return bad('it is a standby, which takes no writes.', 'Let DATABASE_URL name the primary.');
  if (mayWrite === false) return bad('this user may not write to the tables of Baton.', 'Use the user that owns them.');
  if (isBaton) return { findings: [ok('database', text, facts)], learned: true };
  return isEmpty
    ? bad('it is empty.', 'The first start makes the tables; if there should be some, correct DATABASE_URL.')
    : bad('it holds other data, and none of Baton.', 'Correct DATABASE_URL.');
}

/** Whether each connection has a session of its own, without which two processes would lead at once. */
export async function checkSessions(url: string): Promise<Finding> {
  try {
    await expectOwnBackends(url);
    return ok('sessions', 'Each connection has a session of its own, and session locks lock.');
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return problem('sessions', error.message, 'See docs/operations.md, An external PostgreSQL.');
  }
}

const DURABLE = ['fsync', 'full_page_writes'];
const TIMEOUTS = [
  'statement_timeout',
  'lock_timeout',
  'transaction_timeout',
  'idle_session_timeout',
  'idle_in_transaction_session_timeout',
];
/** Shorter timeouts end migrations and retention, which set none of their own. */
const SHORT_MS = 60_000;

/** Checks the settings with which a session begins. A service that replicates beneath PostgreSQL may do without some. */
export async function checkSettings(db: pg.Client, mode: ReplicationMode): Promise<Finding> {
  const names = [...DURABLE, 'synchronous_commit', 'default_transaction_read_only', ...TIMEOUTS];
  const settings = await look(db, tx => readServerSettings(tx, names));
  const facts = Object.fromEntries(settings);
  const text = [...settings].map(([name, value]) => `${name} ${value}`).join(', ');
  const off = DURABLE.filter(name => settings.get(name) !== 'on');
  if (off.length > 0)
    return (mode === 'managed' ? warning : problem)(
      'settings',
      `${off.join(' and ')} off: a power failure may destroy what was acknowledged. All: ${text}`,
      `Set ${off.map(name => `${name} = on`).join(' and ')}.`,
      facts,
    );
  if (settings.get('default_transaction_read_only') === 'on')
    return problem(
      'settings',
      `default_transaction_read_only on: nothing can be written. All: ${text}`,
      'Set it to off for this role and database.',
      facts,
    );
  const loose = ['off', 'local'].includes(settings.get('synchronous_commit') ?? '');
  const short = TIMEOUTS.filter(name => Number(settings.get(name) ?? 0) > 0 && Number(settings.get(name)) < SHORT_MS);
  if (loose || short.length > 0) {
    const what = loose ? ['synchronous_commit'] : [];
    return warning(
      'settings',
      `${[...what, ...short].join(', ')}: runs are safe, as their session sets its own, but the rest is not. All: ${text}`,
      'ALTER ROLE … SET synchronous_commit = on, and timeouts of 0 or at least 60 s.',
      facts,
    );
  }
  return ok('settings', text, facts);
}

/** Connections are short long before they run out: a start takes all of its pool. */
export async function checkConnections(db: pg.Client, pool: number): Promise<Finding> {
  const { used, most, ofBaton } = await look(db, readConnections);
  const text = `${used} of ${most} connections are used, ${ofBaton} of them by processes of Baton`;
  const facts = { used, most, by_baton: ofBaton };
  if (most - used >= pool + 2) return ok('connections', text, facts);
  return warning(
    'connections',
    `${text}: there is no room for another process (${pool} + 2)`,
    'Raise max_connections, or lower BATON_DATABASE_POOL.',
    facts,
  );
}

const CLOCK_NOTICED_MS = 1_000;
/** From here on a node of a cluster takes no leadership. */
const CLOCK_REFUSED_MS = 5_000;

/** Also learns the time of the database. */
export async function checkClock(db: pg.Client, clock: Clock): Promise<Learned<number>> {
  const before = clock.now();
  const databaseMs = await look(db, readDatabaseClock);
  const ahead = clockAhead(databaseMs, { before, after: clock.now() });
  const facts = { ahead_ms: ahead };
  const off = Math.abs(ahead);
  const text =
    off < CLOCK_NOTICED_MS
      ? 'This machine and the database agree to within a second.'
      : `The clock of this machine is ${(off / 1000).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the database.`;
  const advice = 'Let both machines follow NTP: with 5 s a node leads no cluster, with an hour retention stops.';
  if (off < CLOCK_NOTICED_MS) return { findings: [ok('clock', text, facts)], learned: databaseMs };
  const state = off > CLOCK_REFUSED_MS ? problem : warning;
  return { findings: [state('clock', text, advice, facts)], learned: databaseMs };
}

/** Also learns whether the tables are those of this version. */
export async function checkMigrations(db: pg.Client): Promise<Learned<boolean>> {
  try {
    const { due, busy } = await look(db, tx => inspectMigrations(tx));
    if (due.length === 0) return { findings: [ok('migrations', 'None is due.', { due })], learned: true };
    const text = busy
      ? 'Another process is migrating the database.'
      : `${due.length === 1 ? 'One is' : `${due.length} are`} due: ${due.slice(0, 3).join(', ')}${due.length > 3 ? ', …' : ''}.`;
    const finding = warning('migrations', text, 'Back up; the next start of this version applies them.', { due, busy });
    return { findings: [finding], learned: false };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const advice = 'Start the version that migrated it last, or a newer one.';
    return { findings: [problem('migrations', error.message, advice)], learned: false };
  }
}

export async function checkReplication(db: pg.Client, mode: ReplicationMode): Promise<Finding> {
  if (mode === 'managed') return ok('replication', 'Left to the database service (BATON_REPLICATION=managed).');
  const state = await look(db, readReplication);
  const facts = { state: state ?? null, mode };
  const advice = 'See docs/operations.md, Replication: synchronous_standby_names.';
  if (state === 'sync') return ok('replication', 'Synchronous: a commit waits for a replica.', facts);
  if (mode === 'require')
    return problem('replication', `BATON_REPLICATION=require, and it is ${state ?? 'not a primary'}.`, advice, facts);
  if (state === 'async')
    return warning('replication', 'Asynchronous: a failover may lose what was acknowledged.', advice, facts);
  return ok('replication', 'There are no replicas: a backup is all there is.', facts);
}

const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

export async function checkSizes(db: pg.Client): Promise<Finding> {
  const { bytes, tables } = await look(db, readSizes);
  const largest = tables.map(table => `${table.name} ${mebibytes(table.bytes)}`).join(', ');
  return ok('sizes', `The database has ${mebibytes(bytes)}; the largest tables: ${largest}`, { bytes, tables });
}

const SLOW = { longS: 60, meanMs: 500 };

/** Statements that are slow on average where PostgreSQL counts them, and what other sessions have done for a minute. */
export async function checkQueries(db: pg.Client, { longS, meanMs } = SLOW): Promise<Finding[]> {
  return [await checkLongRunning(db, longS), await checkStatements(db, meanMs)];
}

async function checkLongRunning(db: pg.Client, seconds: number): Promise<Finding> {
  const long = await look(db, tx => readLongRunning(tx, seconds));
  if (long.length === 0) return ok('sessions at work', `None has worked or waited in a transaction for ${seconds} s.`);
  const texts = long.map(({ pid, application, state, command, seconds: lasted }) =>
    state === 'active'
      ? `${command || 'a statement'} for ${lasted} s (pid ${pid}, ${application || 'no name'})`
      : `a transaction that waits for its client for ${lasted} s (pid ${pid}, ${application || 'no name'})`,
  );
  const advice = 'SELECT pg_cancel_backend(pid) ends a statement, pg_terminate_backend(pid) a session.';
  return warning('sessions at work', texts.join('; '), advice, { long_running: long });
}

async function checkStatements(db: pg.Client, meanMs: number): Promise<Finding> {
  if (!(await look(db, hasStatementStatistics)))
    return skipped('slow statements', 'PostgreSQL does not count them here (pg_stat_statements).');
  const slow = await look(db, tx => readSlowStatements(tx, meanMs)).catch(() => undefined);
  if (slow === undefined) return skipped('slow statements', 'pg_stat_statements is there, and cannot be read.');
  if (slow.length === 0) return ok('slow statements', `None takes ${meanMs} ms on average.`);
  const [worst] = slow;
  const advice = 'VACUUM (ANALYZE) its tables; look at their sizes and at the disk.';
  const text = `${slow.length === 1 ? 'One takes' : `${slow.length} take`} more than ${meanMs} ms on average; the slowest ${worst?.meanMs} ms in ${worst?.calls} calls: ${worst?.statement}`;
  return warning('slow statements', text, advice, { slow });
}
