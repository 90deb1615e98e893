import type { Alarm, Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LoadJournal, LogReader, WriterLimits } from '../log/index.ts';
import type { CreditSource } from '../ports/credits.ts';
import type { OrchestratorObserver } from '../ports/observer.ts';
import type { OrchestratorSettings } from '../ports/settings.ts';
import type { SpendingSource } from '../ports/spending.ts';
import type { StepTypes } from '../ports/step-type.ts';
import type { EventBroadcaster } from './event-broadcaster.ts';
import type { OwnTerm } from './leadership/leader-terms.ts';
import type { GraphCache } from './runs/graph-cache.ts';
import type { AheadLimits } from './runs/steps-ahead.ts';

/** The dependencies of the runtime; constructed for each term of leadership. */
export type RuntimeServices = {
  reader: LogReader;
  /** The term of this runtime. */
  leader: OwnTerm;
  /** The number of shards of a cluster, of which this runtime takes some; default: it executes every run. */
  shards?: number | undefined;
  clock: Clock;
  alarm: Alarm;
  logger: Logger;
  stepTypes: StepTypes;
  config: OrchestratorSettings;
  random: () => number;
  /** The most that a turn decides ahead; default AHEAD_LIMITS. */
  ahead?: AheadLimits | undefined;
  /** Calls back after the current turn of the event loop: setImmediate. */
  defer: (callback: () => void) => void;
  graphs: GraphCache;
  broadcaster: EventBroadcaster;
  writerLimits?: WriterLimits;
  /** Default: no observer. */
  observer?: OrchestratorObserver;
  /** Default: no run is ever a suspect. */
  journal?: LoadJournal | undefined;
  /** Default: everything is free. */
  credits?: CreditSource | undefined;
  /** Default: no person has a daily limit. */
  spending?: SpendingSource | undefined;
};
