import type { GroupCommitLog } from '../log/index.ts';
import type { OrchestratorLoad } from '../ports/observer.ts';
import type { RunResources } from './memory/run-resources.ts';
import type { LiveRun } from './runs/live-run.ts';
import type { Slots } from './runs/slots.ts';
import type { Timers } from './runs/timers.ts';

export type RuntimeLoad = Omit<OrchestratorLoad, 'status'>;

type Parts = { slots: Slots; log: GroupCommitLog; timers: Timers; resources: RunResources };

/** Returns the load of a runtime. The cost is O(runs in memory). */
export function loadOf(runs: ReadonlyMap<string, LiveRun>, { slots, log, timers, resources }: Parts): RuntimeLoad {
  let stepsWaiting = 0;
  for (const run of runs.values()) stepsWaiting += run.waitingSteps;
  return {
    runsInMemory: runs.size,
    slotsInUse: slots.inUse,
    stepsWaiting,
    stepsWaitingForMemory: resources.uncommittedResults.waiting + resources.storedResults.waiting,
    backlogRows: log.backlogRows,
    backlogBytes: log.backlogBytes,
    timers: timers.size,
    memory: {
      runs: resources.memory.total,
      landing_results: resources.uncommittedResults.bytes,
      loaded_results: resources.storedResults.loadedBytes,
      cached_results: resources.storedResults.cachedBytes,
    },
    inFlightByTenant: slots.inUseByTenant(),
  };
}

/** The load of a process that does not lead. */
export const IDLE: RuntimeLoad = {
  runsInMemory: 0,
  slotsInUse: 0,
  stepsWaiting: 0,
  stepsWaitingForMemory: 0,
  backlogRows: 0,
  backlogBytes: 0,
  timers: 0,
  memory: { runs: 0, landing_results: 0, loaded_results: 0, cached_results: 0 },
  inFlightByTenant: new Map(),
};
