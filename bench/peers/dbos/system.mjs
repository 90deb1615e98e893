import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { Folder } from '../../system/folder.ts';
import { startPostgres } from '../../system/postgres.ts';
import { serve } from '../../system/serve.ts';
import { comparedWorkloads } from '../../workloads/compared.ts';
import { versionOf } from '../version.mjs';
import { inOrder } from '../window.mjs';

const STEPS = 10;
const AT_A_TIME = 100;
const POOL = 20;
const WAIT_SECONDS = 3_600;

const step = (name, n) => DBOS.runStep(async () => n > 0, { name });

const chain = DBOS.registerWorkflow(
  async n => {
    for (let index = 0; index < STEPS; index += 1) await step(`s${index}`, n);
  },
  { name: 'chain' },
);
const fanOut = DBOS.registerWorkflow(
  async (n, width) => {
    await Promise.all(Array.from({ length: width }, (_, index) => step(`p${index}`, n)));
    await step('join', n);
  },
  { name: 'fan-out' },
);
const list = count =>
  DBOS.runStep(async () => Array.from({ length: count }, (_, index) => index + 1), { name: 'list' });
const forEach = DBOS.registerWorkflow(
  async count => {
    const work = item => DBOS.runStep(async () => item + 1, { name: 'item' });
    const results = await inOrder(await list(count), AT_A_TIME, work);
    await DBOS.runStep(async () => results, { name: 'join' });
  },
  { name: 'for-each' },
);
const called = DBOS.registerWorkflow(async n => step('s0', n), { name: 'called' });
const callRuns = DBOS.registerWorkflow(
  async count => {
    const results = await inOrder(await list(count), AT_A_TIME, n => called(n));
    await DBOS.runStep(async () => results, { name: 'join' });
  },
  { name: 'call-runs' },
);
const requests = DBOS.registerWorkflow(
  async url => {
    for (let index = 0; index < STEPS; index += 1)
      await DBOS.runStep(async () => (await fetch(url)).json(), { name: `r${index}` });
  },
  { name: 'requests' },
);
const blocked = DBOS.registerWorkflow(
  async n => {
    if ((await DBOS.recv('answer', WAIT_SECONDS)) === null) throw new Error('nobody answered');
    await step('after', n);
  },
  { name: 'blocked' },
);

/** DBOS on the same PostgreSQL as Baton: workflows of steps in this process, started and awaited here. */
await serve(comparedWorkloads, async () => {
  const folder = await Folder.make();
  const postgres = await startPostgres(folder, 100);
  DBOS.setConfig({
    name: 'bench',
    applicationVersion: '1',
    systemDatabaseUrl: postgres.url,
    systemDatabasePoolSize: POOL,
    logLevel: 'error',
  });
  await DBOS.launch();
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 });
  pool.on('error', () => undefined);
  const count = async sql => (await pool.query(sql)).rows[0].n;
  return {
    versions: { DBOS: versionOf('@dbos-inc/dbos-sdk'), PostgreSQL: postgres.version, Node: process.version },
    processes: [postgres.postmaster],
    parts: async () => ({ node: process.pid }),
    chain: () => chain(1),
    fanOut: width => fanOut(1, width),
    // If they were called as methods, DBOS would look for a configured instance in `this`.
    forEach: count => forEach(count),
    callRuns: count => callRuns(count),
    requests: url => requests(url),
    async block(runs) {
      const handles = [];
      while (handles.length < runs) {
        const next = Math.min(100, runs - handles.length);
        handles.push(...(await Promise.all(Array.from({ length: next }, () => DBOS.startWorkflow(blocked)(1)))));
      }
      return {
        async release() {
          await Promise.all(
            handles.map(async handle => {
              await DBOS.send(handle.workflowID, { approved: true }, 'answer');
              await handle.getResult();
            }),
          );
        },
      };
    },
    recordedSteps: () => count('SELECT count(*)::int AS n FROM dbos.operation_outputs'),
    recordedRuns: () => count(`SELECT count(*)::int AS n FROM dbos.workflow_status WHERE status = 'SUCCESS'`),
    async close() {
      await DBOS.shutdown();
      await pool.end();
      await postgres.close();
      await folder.remove();
    },
  };
});
