/**
 * The two processes of the recovery benchmark: the victim runs chains up to a step that never ends, and waits to be
 * killed; the successor recovers them and reports its progress. The argument is a RecoveryOrder.
 */
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import pg from 'pg';
import { LuaPool } from '../../server/orchestrator/languages/lua/index.ts';
import type { StepType } from '../../server/orchestrator/ports/step-type.ts';
import { condition } from '../../server/orchestrator/steps/condition/condition.ts';
import { newId } from '../../server/platform/ids.ts';
import { chain } from '../graphs.ts';
import { keepInFlight } from '../load.ts';
import { createBenchOrchestrator, TENANT } from './orchestrator.ts';
import { started } from './service.ts';

export type RecoveryOrder = { role: 'victim' | 'successor'; url: string; workflow: string; count: number };
export type RecoveryReport =
  | { kind: 'running' | 'serving' | 'started' | 'advancing' }
  | { kind: 'ended'; memory: number };

const HANGS_AT = 's5';
const order: RecoveryOrder = JSON.parse(process.argv[2] ?? '');
const pool = new pg.Pool({ connectionString: order.url, max: 10 });
const luaPool = new LuaPool();
let reachedCount = 0;
let allReached: () => void;
const allRunsReached = new Promise<void>(resolve => {
  allReached = resolve;
});
// Without evaluation inside the engine, every step of the victim is an attempt that can hang.
const { atOnce: _, ...conditions } = condition(luaPool);
const hanging: StepType = {
  ...conditions,
  execute: (attempt, signal) => {
    if (attempt.step.id !== HANGS_AT) return conditions.execute(attempt, signal);
    reachedCount += 1;
    if (reachedCount === order.count) allReached();
    return new Promise(() => undefined);
  },
};
const orchestrator = createBenchOrchestrator({
  pool,
  url: order.url,
  luaPool,
  graphOf: () => chain('condition', 10),
  // The victim has every run in flight at its sixth step; the successor has the product's limits.
  ...(order.role === 'victim' ? { stepTypes: [hanging], inFlight: order.count } : {}),
});
// Ends with the parent: otherwise this process would run forever.
process.once('disconnect', () => process.exit());
const sendReport = (report: RecoveryReport) => process.send?.(report);
const start = async (tenantId = TENANT) => {
  const run = { runId: newId(), tenantId, projectId: newId(), workflowId: order.workflow };
  await orchestrator.start({ ...run, data: started(run) });
};

if (order.role === 'victim') {
  await untilLeading();
  await keepInFlight(order.count, 500, () => start());
  await allRunsReached;
  flushCompileCache();
  sendReport({ kind: 'running' });
} else {
  const advanced = new Set<string>();
  let ended = 0;
  const allEnded = new Promise<void>(resolve => {
    orchestrator.subscribe({ tenantId: TENANT }, items => {
      for (const { kind, item } of items) {
        if (kind !== 'event') continue;
        if (!advanced.has(item.runId)) {
          advanced.add(item.runId);
          if (advanced.size === order.count) sendReport({ kind: 'advancing' });
        }
        if (item.event.type === 'state_changed') ended += 1;
        if (ended === order.count) resolve();
      }
    });
  });
  await untilLeading();
  sendReport({ kind: 'serving' });
  // The run belongs to another tenant, so that the subscription does not count it.
  await start('other');
  sendReport({ kind: 'started' });
  await allEnded;
  sendReport({ kind: 'ended', memory: process.resourceUsage().maxRSS * 1024 });
  await once(process, 'SIGTERM');
  await orchestrator.close();
  await luaPool.close();
  await pool.end();
  process.disconnect();
}

async function untilLeading(): Promise<void> {
  await orchestrator.ready;
  while (orchestrator.status() !== 'leading') await new Promise(resolve => setTimeout(resolve, 1));
}
