import type { Pool } from 'pg';
import type { Alarm, Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LoadJournal, LogReader, WriterLimits } from '../log/index.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { CreditSource } from '../ports/credits.ts';
import type { OrchestratorObserver } from '../ports/observer.ts';
import type { OrchestratorSettings } from '../ports/settings.ts';
import type { SpendingSource } from '../ports/spending.ts';
import type { StepTypes } from '../ports/step-type.ts';
import type { LeaderConnector } from './leadership/leader-connection.ts';
import type { LeaderTerms } from './leadership/leader-terms.ts';
import type { LeaderSession } from './leadership/leadership.ts';
import type { LoadVersion } from './runs/graph-cache.ts';
import type { Runtime } from './runtime.ts';
import type { RuntimeServices } from './runtime-services.ts';

export type EmbeddedOrchestratorOptions = {
  /** The pool for reading; shared with the rest of the process. */
  pool: Pool;
  /**
   * The address for the one session that holds the leader's lock and writes the log; not through a pooler in
   * transaction mode.
   */
  connectionString: string;
  clock: Clock;
  logger: Logger;
  stepTypes: StepTypes;
  config: OrchestratorSettings;
  /** Default: `workflow_versions`. */
  loadVersion?: LoadVersion;
  /** 0..1, for the jitter of retries; default Math.random. */
  random?: () => number;
  /** The alarm for waits in real time; default setTimeout. */
  alarm?: Alarm;
  writerLimits?: WriterLimits;
  /** The advisory lock's key: processes with different keys do not see each other. */
  lock?: number;
  /** Default: no observer. */
  observer?: OrchestratorObserver;
  /** Default: everything is free. */
  credits?: CreditSource;
  /** Default: no person has a daily limit. */
  spending?: SpendingSource;
  /**
   * Called each time this process holds the leader's lock, before it reads or runs anything. Where it throws, the process
   * does not lead: it releases the lock, `unavailableReason()` is the error's message, and it tries again later. The
   * message is shown by `/readyz` without authentication. `signal` aborts when the process stops.
   */
  beforeLeading?: (signal: AbortSignal) => Promise<void>;
  /** Whether this process leads only where commits wait for a replica. Default: it leads without replicas, too. */
  synchronous?: boolean;
  /** Default: no cluster, so that this process leads alone, and nobody knows which other process does. */
  cluster?: Pick<Cluster, 'node' | 'shards' | 'owner' | 'placement' | 'whyNotLead'>;
  /** Replaced by the simulation. */
  ports?: Partial<OrchestratorPorts>;
};

export type OrchestratorPorts = {
  /** Default: by `pool`. */
  reader: LogReader;
  /** Default: by `pool`. */
  terms: LeaderTerms;
  journal: LoadJournal;
  /** Default: to `connectionString`. */
  connect: LeaderConnector;
  /** The alarm of leadership, whose intervals concern the connection and not runs. Default setTimeout. */
  alarm: Alarm;
  /** Default setImmediate. */
  defer: (callback: () => void) => void;
  createRuntime: (services: RuntimeServices, session: LeaderSession) => Runtime;
};
