import { Gauge, type Registry } from 'prom-client';
import type { OrchestratorLoad } from '../ports/observer.ts';
import type { OrchestratorStatus } from '../ports/orchestrator.ts';

/** The busiest tenants get a series each. All others share one, `_other`, which cannot be a slug. */
const TENANTS_SHOWN = 20;
const OTHERS = '_other';

const statuses: readonly OrchestratorStatus[] = [
  'starting',
  'leading',
  'standby',
  'unavailable',
  'stopping',
  'stopped',
];

type Source = { load(): OrchestratorLoad; lua: { readonly waiting: number; readonly workers: number } };

/**
 * Gauges of the pending work. A scrape reads them from counts that the orchestrator keeps anyway:
 * no SQL, O(runs in memory).
 */
export function loadMetrics(registry: Registry, source: Source): void {
  const registers = [registry];
  const plain: [name: string, help: string, of: (load: OrchestratorLoad) => number][] = [
    [
      'baton_runs_in_memory',
      'Runs in memory; those that only wait for people are in the log alone.',
      load => load.runsInMemory,
    ],
    ['baton_steps_in_flight', 'Attempts in flight: slots in use.', load => load.slotsInUse],
    ['baton_steps_waiting', 'Steps that could start if there were a free slot.', load => load.stepsWaiting],
    [
      'baton_steps_waiting_for_memory',
      'Attempts in flight that wait for memory for the results that they read or bring.',
      load => load.stepsWaitingForMemory,
    ],
    ['baton_log_backlog_rows', 'Events that wait for their commit, or are on the way.', load => load.backlogRows],
    ['baton_log_backlog_bytes', 'The same in bytes.', load => load.backlogBytes],
    ['baton_timers', 'Timers set: timeouts, retries, tasks, waking of runs.', load => load.timers],
    ['baton_lua_queue_depth', 'Scripts that wait for a Lua worker.', () => source.lua.waiting],
    ['baton_lua_workers', 'Lua worker threads alive.', () => source.lua.workers],
  ];
  /** One measurement for all gauges of a scrape, which collects them in one turn of the event loop. */
  let seen: OrchestratorLoad | null = null;
  const look = (): OrchestratorLoad => {
    if (seen !== null) return seen;
    seen = source.load();
    queueMicrotask(() => {
      seen = null;
    });
    return seen;
  };
  for (const [name, help, of] of plain) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(of(look()));
      },
    });
  }
  new Gauge({
    name: 'baton_orchestrator_status',
    help: '1 for the state this process is in.',
    labelNames: ['status'],
    registers,
    collect() {
      const { status } = look();
      for (const each of statuses) this.set({ status: each }, each === status ? 1 : 0);
    },
  });
  new Gauge({
    name: 'baton_memory_bytes',
    help: 'Bytes that runs and large results take in memory, approximately, by what they are for.',
    labelNames: ['use'],
    registers,
    collect() {
      for (const [use, bytes] of Object.entries(look().memory)) this.set({ use }, bytes);
    },
  });
  new Gauge({
    name: 'baton_tenant_steps_in_flight',
    help: `Attempts in flight of the ${TENANTS_SHOWN} busiest tenants that have any, and of all others together.`,
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset();
      for (const [tenant, count] of busiestTenants(look().inFlightByTenant)) this.set({ tenant }, count);
    },
  });
}

function busiestTenants(inFlight: ReadonlyMap<string, number>): [tenant: string, count: number][] {
  if (inFlight.size <= TENANTS_SHOWN) return [...inFlight];
  const busiest = [...inFlight].sort((a, b) => b[1] - a[1]);
  const others = busiest.slice(TENANTS_SHOWN).reduce((sum, [, count]) => sum + count, 0);
  return [...busiest.slice(0, TENANTS_SHOWN), [OTHERS, others]];
}
