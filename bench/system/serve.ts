import { cpuSeconds, cpuSecondsOf } from '../meter.ts';
import { Profiler } from '../profile.ts';
import type { Measure, Order, Report, System, Workload } from './system.ts';

/**
 * The main function of a system's process: opens the system, executes the parent's orders from the IPC channel, and
 * closes it when told to, or when the parent has ended.
 */
export async function serve(workloads: readonly Workload[], open: () => Promise<System>): Promise<void> {
  const system = await open().catch(async error => {
    await report({ kind: 'failed', message: explain(error) });
    process.exit(1);
  });
  process.once('disconnect', () => void system.close().finally(() => process.exit(1)));
  let last: Promise<void> = Promise.resolve();
  process.on('message', (order: Order) => {
    last = last.then(() => obey(system, order, workloads));
  });
  const able = workloads.filter(workload => workload.can(system));
  await report({
    kind: 'open',
    versions: { ...system.versions },
    processes: [process.pid, ...system.processes],
    workloads: able.map(({ name }) => name),
  });
}

async function obey(system: System, order: Order, workloads: readonly Workload[]): Promise<void> {
  if (order.kind === 'close') {
    await system.close();
    await report({ kind: 'closed' });
    process.exit(0);
  }
  const workload = workloads.find(({ name }) => name === order.workload);
  try {
    if (!workload?.can(system)) throw new Error(`This system cannot do ${order.workload}.`);
    const figures = await workload.run(system, order.size, measurement(system, order), order.origin);
    await report({ kind: 'figures', figures });
  } catch (error) {
    await report({ kind: 'failed', message: explain(error) });
  }
}

function measurement(system: System, order: Order & { kind: 'run' }): Measure {
  return async work => {
    if (order.statements) await system.statements?.begin();
    const profiler = order.profile ? await Profiler.start() : undefined;
    const parts = Object.entries((await system.parts?.()) ?? {});
    const cpu = () => ({
      all: cpuSeconds([process.pid, ...system.processes]),
      ...Object.fromEntries(parts.map(([name, pid]) => [name, cpuSecondsOf(pid)])),
    });
    const before: Record<string, number> = cpu();
    const from = performance.now();
    const value = await work();
    const seconds = (performance.now() - from) / 1000;
    const after = cpu();
    const spent = Object.fromEntries(Object.entries(after).map(([name, total]) => [name, total - (before[name] ?? 0)]));
    if (profiler && order.profile) await profiler.stop(order.profile);
    if (order.statements) await system.statements?.end();
    return { seconds, cpu: { ...spent, all: spent.all ?? 0 }, value };
  };
}

const explain = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

function report(message: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) throw new Error('A system is started by bench/run.ts.');
    process.send(message, undefined, undefined, error => (error ? reject(error) : resolve()));
  });
}
