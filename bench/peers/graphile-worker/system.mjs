import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import { Folder } from '../../system/folder.ts';
import { startPostgres } from '../../system/postgres.ts';
import { serve } from '../../system/serve.ts';
import { comparedWorkloads } from '../../workloads/compared.ts';
import { versionOf } from '../version.mjs';

const STEPS = 10;
const CONCURRENT = 24;

/**
 * Records the end of a step and adds the next job in one statement, and so in one transaction: graphile-worker itself stores nothing about
 * a completed job.
 */
const END_AND_NEXT = `
  WITH ended AS (INSERT INTO steps (run, step, value) VALUES ($1, $2, $3))
  SELECT graphile_worker.add_job('step', json_build_object('run', $1::text, 'step', $2::int + 1, 'n', $4::int))`;
const END = 'INSERT INTO steps (run, step, value) VALUES ($1, $2, $3)';
/** Does the same for a step that sends a request. */
const ANSWER_AND_NEXT = `
  WITH ended AS (INSERT INTO steps (run, step, answer) VALUES ($1, $2, $3))
  SELECT graphile_worker.add_job('request', json_build_object('run', $1::text, 'step', $2::int + 1, 'url', $4::text))`;
const ANSWER = 'INSERT INTO steps (run, step, answer) VALUES ($1, $2, $3)';

/** graphile-worker on the same PostgreSQL as Baton: a chain is a job that adds the next one. */
await serve(comparedWorkloads, async () => {
  const folder = await Folder.make();
  const postgres = await startPostgres(folder, 150);
  const pool = new pg.Pool({ connectionString: postgres.url, max: CONCURRENT + 8 });
  pool.on('error', () => undefined);
  pool.on('connect', client => client.on('error', () => undefined));
  await pool.query('CREATE TABLE steps (run text, step int, value boolean, answer json, PRIMARY KEY (run, step))');
  const waiting = new Map();
  const ended = id => {
    waiting.get(id)?.();
    waiting.delete(id);
  };
  const taskList = {
    step: async (payload, { withPgClient }) => {
      const { run: id, step, n } = payload;
      const end = [id, step, n > 0];
      const last = step === STEPS - 1;
      await withPgClient(client =>
        last
          ? client.query({ name: 'end', text: END, values: end })
          : client.query({ name: 'end-and-next', text: END_AND_NEXT, values: [...end, n] }),
      );
      if (last) ended(id);
    },
    request: async ({ run: id, step, url }, { withPgClient }) => {
      const end = [id, step, await (await fetch(url)).text()];
      const last = step === STEPS - 1;
      await withPgClient(client =>
        last
          ? client.query({ name: 'answer', text: ANSWER, values: end })
          : client.query({ name: 'answer-and-next', text: ANSWER_AND_NEXT, values: [...end, url] }),
      );
      if (last) ended(id);
    },
  };
  const runToEnd = async (task, payload) => {
    const id = crypto.randomUUID();
    const end = new Promise(resolve => waiting.set(id, resolve));
    await runner.addJob(task, { run: id, step: 0, ...payload });
    await end;
  };
  const runner = await run({
    pgPool: pool,
    taskList,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    preset: {
      worker: {
        concurrentJobs: CONCURRENT,
        maxPoolSize: CONCURRENT + 8,
        // The size that graphile-worker's page about performance recommends.
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  return {
    versions: { 'graphile-worker': versionOf('graphile-worker'), PostgreSQL: postgres.version, Node: process.version },
    processes: [postgres.postmaster],
    parts: async () => ({ node: process.pid }),
    chain: () => runToEnd('step', { n: 1 }),
    requests: url => runToEnd('request', { url }),
    async recordedSteps() {
      return (await pool.query('SELECT count(*)::int AS n FROM steps')).rows[0].n;
    },
    async close() {
      await runner.stop();
      await pool.end();
      await postgres.close();
      await folder.remove();
    },
  };
});
