import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { BenchService } from '../baton/service.ts';
import { oneByOne, percentile } from '../load.ts';
import type { Figures, Measure } from '../system/system.ts';
import { throughput } from './figures.ts';

/** The measured size of a run: 20 events with their index entries, and WAL that is not yet recycled. */
const BYTES_PER_RUN = 7_000;
const BATCH = 10_000;
/** The maximum number of chains; a measurement with few old runs uses fewer. */
const CHAINS = 2_000;
const REPEAT = 3;

/**
 * Measures the same chains before and after `count` old runs with all their events are in the database. The old runs
 * are copies of a real run, so they have the form of this version. All of them started this month, so that with tables
 * partitioned by month they share the current partition, which is the worst case.
 */
export async function oldRuns(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const affordable = await affordableRuns(count);
  const chains = Math.min(CHAINS, Math.ceil(count / 10));
  await measureChains(service, chains, measure);
  const before = await measureChains(service, chains, measure);
  const copying = performance.now();
  const events = await copyRuns(service, affordable);
  const copied = (performance.now() - copying) / 1000;
  await service.pool.query('VACUUM (ANALYZE)');
  await service.pool.query('CHECKPOINT');
  await measureChains(service, chains, measure);
  const after = await measureChains(service, chains, measure);
  const takeover = await takeOver(service);
  const { rows } = await service.pool.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  return {
    'steps/s beside old runs': after.steps,
    'steps/s before': before.steps,
    'times as fast': after.steps / before.steps,
    'times the CPU': after.cpu / before.cpu,
    'p50 ms alone beside old runs': after.alone,
    'p50 ms alone before': before.alone,
    'ms to lead beside old runs': takeover,
    'old runs': affordable,
    'old events': events,
    'seconds to copy them': copied,
    'database GiB': Number(rows[0]?.bytes) / 2 ** 30,
  };
}

/** Returns `count`, or the number of runs that fit into half of the free disk space. */
async function affordableRuns(count: number): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir());
  const affordable = Math.floor((bavail * bsize) / 2 / BYTES_PER_RUN / BATCH) * BATCH;
  if (affordable >= count) return count;
  const needed = ((count * BYTES_PER_RUN) / 2 ** 30).toFixed(0);
  process.stderr.write(
    `old-runs: ${count} runs need ${needed} GiB and half of the free disk is less: ${affordable} runs.\n`,
  );
  if (affordable === 0) throw new Error('There is no room on the disk for old runs.');
  return affordable;
}

type Pass = { steps: number; cpu: number; alone: number };

/** Measures chains several times, and returns the medians. */
async function measureChains(service: BenchService, chains: number, measure: Measure): Promise<Pass> {
  const all: Pass[] = [];
  for (let n = 0; n < REPEAT; n += 1) {
    const figures = await throughput(chains, 64, measure, () => service.chain());
    const times = await oneByOne(Math.ceil(chains / 20), () => service.chain());
    const cpu = figures['CPU s/1,000 steps'] ?? Number.NaN;
    all.push({ steps: figures['steps/s'] ?? Number.NaN, cpu, alone: percentile(times, 0.5) });
  }
  const median = (name: keyof Pass) => all.map(each => each[name]).sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
  return { steps: median('steps'), cpu: median('cpu'), alone: median('alone') };
}

async function takeOver(service: BenchService): Promise<number> {
  await service.orchestrator.close();
  const from = performance.now();
  service.launch();
  await service.leading();
  return performance.now() - from;
}

/**
 * Copies one run with its events `count` times, within the database, over two sessions. Returns the number of events.
 */
async function copyRuns(service: BenchService, count: number): Promise<number> {
  const ref = service.ref(service.declareOnce('chain condition', () => ({ steps: [] })));
  const ended = service.ended(ref);
  await service.start(ref);
  await ended;
  const [runs, events] = await Promise.all([columnsOf(service, 'runs'), columnsOf(service, 'run_events')]);
  const ids = `
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid AS new_id, at
    FROM generate_series($2::int, $3::int) AS n,
         LATERAL (SELECT md5(n::text) AS hash, template.started_at - make_interval(secs => ($4::int - n) * $5::float8) AS at
                  FROM runs template WHERE id = $1) AS made`;
  const shifted = (column: string) => `${column} - template.started_at + made.at`;
  const insertRuns = `INSERT INTO runs (${runs.join(', ')})
    SELECT ${runs.map(name => overridden(name, { id: 'made.new_id', session_id: 'made.new_id::text', started_at: 'made.at', ended_at: `template.ended_at - template.started_at + made.at` }, 'template')).join(', ')}
    FROM (${ids}) made, runs template WHERE template.id = $1`;
  const insertEvents = `INSERT INTO run_events (${events.join(', ')})
    SELECT ${events.map(name => overridden(name, { run_id: 'made.new_id', created_at: shifted('event.created_at') }, 'event')).join(', ')}
    FROM (${ids}) made, runs template, run_events event WHERE template.id = $1 AND event.run_id = $1 ORDER BY made.new_id, event.seq`;
  const apart = await secondsApart(service, ref.runId, count);
  let copied = 0;
  let next = 1;
  const session = async () => {
    const client = await service.pool.connect();
    try {
      await client.query('SET synchronous_commit = off');
      while (next <= count) {
        const [low, high] = [next, Math.min(next + BATCH - 1, count)];
        next = high + 1;
        const values = [ref.runId, low, high, count + 1, apart];
        await client.query(insertRuns, values);
        const { rowCount } = await client.query(insertEvents, values);
        copied += rowCount ?? 0;
      }
    } finally {
      client.release(true);
    }
  };
  await Promise.all([session(), session()]);
  return copied;
}

/** Returns the interval between the starts of the copies, such that the oldest one also started this month. */
async function secondsApart(service: BenchService, runId: string, count: number): Promise<number> {
  const { rows } = await service.pool.query<{ seconds: number }>(
    `SELECT extract(epoch FROM started_at - date_trunc('month', started_at, 'UTC'))::float8 AS seconds FROM runs WHERE id = $1`,
    [runId],
  );
  return (rows[0]?.seconds ?? 0) / (count + 2);
}

async function columnsOf(service: BenchService, table: string): Promise<string[]> {
  const { rows } = await service.pool.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    [table],
  );
  return rows.map(({ name }) => name);
}

function overridden(column: string, instead: Record<string, string>, table: string): string {
  return instead[column] ?? `${table}.${column}`;
}
