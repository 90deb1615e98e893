import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TENANT } from '../baton/orchestrator.ts';
import type { RecoveryOrder, RecoveryReport } from '../baton/recovery-process.ts';
import type { BenchService } from '../baton/service.ts';
import { chain } from '../graphs.ts';
import type { Figures, Measure } from '../system/system.ts';
import { CHAIN } from './figures.ts';

/**
 * A separate process runs `count` chains to their sixth step, which never ends, and is killed with SIGKILL. The clock
 * starts at that moment, includes the start of the next process, and stops when that process serves, has moved every
 * run on, and has ended every run.
 */
export async function recovery(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  await service.orchestrator.close();
  const workflow = service.declare(chain('condition', CHAIN));
  const victim = launch({ role: 'victim', url: service.url, workflow, count });
  await waitForReport(victim, 'running');
  const { value } = await measure(async () => {
    const from = performance.now();
    victim.kill('SIGKILL');
    const successor = launch({ role: 'successor', url: service.url, workflow, count });
    const at: Record<string, number> = {};
    successor.on('message', ({ kind }: RecoveryReport) => {
      at[kind] = performance.now() - from;
    });
    const { memory } = (await waitForReport(successor, 'ended')) as Extract<RecoveryReport, { kind: 'ended' }>;
    successor.kill('SIGTERM');
    await once(successor, 'exit');
    return { at, memory };
  });
  const { rows } = await service.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM runs WHERE workflow_id = $1 AND tenant_id = $2 AND status = 'completed'`,
    [workflow, TENANT],
  );
  if (rows[0]?.n !== count) throw new Error(`${count} runs were killed, and ${rows[0]?.n} of them completed.`);
  service.launch();
  await service.leading();
  return {
    'ms to serving': value.at.serving ?? Number.NaN,
    'ms to the first new start': value.at.started ?? Number.NaN,
    'ms to all advancing': value.at.advancing ?? Number.NaN,
    'ms to all ended': value.at.ended ?? Number.NaN,
    'peak MiB of the process': value.memory / 1024 / 1024,
  };
}

function launch(order: RecoveryOrder): ChildProcess {
  return fork(fileURLToPath(new URL('../baton/recovery-process.ts', import.meta.url)), [JSON.stringify(order)], {
    execArgv: [],
    // As in bin/serve.mjs, the successor uses the code that the victim compiled.
    env: { ...process.env, NODE_COMPILE_CACHE: fileURLToPath(new URL('../results/compile-cache', import.meta.url)) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Settles at the first message of that kind; throws if the process ends before. */
function waitForReport(child: ChildProcess, kind: RecoveryReport['kind']): Promise<RecoveryReport> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: RecoveryReport) => {
      if (message.kind === kind) resolve(message);
    });
    child.once('exit', (code, signal) => reject(new Error(`A process of the recovery ended: ${code ?? signal}`)));
  });
}
