import type { AppError } from '../../platform/errors.ts';
import type { JsonMap, Phase, RunEvent, RunStartedData, RunStatus } from '../core/index.ts';
import type { Shards } from '../shards/slot.ts';

/** A run as the orchestrator's callers see it. Times are ms since the epoch. */
export type RunSnapshot = {
  runId: string;
  tenantId: string;
  workflowId: string;
  version: number;
  status: RunStatus;
  phase: Phase;
  startedAt: number;
};

export type StartRun = {
  runId: string;
  tenantId: string;
  projectId: string;
  workflowId: string;
  data: RunStartedData;
};

/** A committed event with its position in the log: what the stream sends and `GET …/events` lists. */
export type CommittedEvent = {
  seq: number;
  runId: string;
  tenantId: string;
  projectId: string;
  workflowId: string;
  event: RunEvent;
  /** Set on a live event if a step of another run started its run. */
  called?: true;
};

/** A refused start (docs/specification/runs.md#refused-starts): streamed as `run_rejected`, without creating a run. */
export type RejectedStart = {
  runId: string;
  tenantId: string;
  projectId: string;
  workflowId: string;
  at: number;
  code: string;
  message: string;
};

export type StreamItem = { kind: 'event'; item: CommittedEvent } | { kind: 'rejected'; item: RejectedStart };

/**
 * `leading`: this process executes the runs. `standby`: another process does. `unavailable`: the
 * database cannot be reached.
 */
export type OrchestratorStatus = 'starting' | 'leading' | 'standby' | 'unavailable' | 'stopping' | 'stopped';

/**
 * The process that executes the runs of a workspace. `here`: this one. `node`: another node of the cluster, which other
 * nodes reach at `url`, an origin without a slash at its end. `unknown`: nobody that is known here, so what needs the
 * engine is handled here and refused with `not_leading`.
 */
export type Owner = { kind: 'here' } | { kind: 'node'; id: string; url: string } | { kind: 'unknown' };

/**
 * The commands and queries that domains may send to the orchestrator, independent of the executor. Every promise
 * settles after the commit (docs/specification/runs.md#durability). If this process does not lead, every command is
 * AppError 503 `not_leading` with Retry-After. While a tenant's share of the log is used up
 * (docs/adr/0029-shares-of-the-commit-queue.md), its commands are AppError 429 `too_many_writes`; a pause and a stop wait
 * instead.
 */
export interface Orchestrator {
  /** Starts a run. AppError 409 `run_id_taken` if the id was used; 429 `too_many_active_runs` over the tenant's limit. */
  start(run: StartRun): Promise<RunSnapshot>;
  /** Records a refused start and streams it. */
  reject(rejected: RejectedStart): Promise<void>;
  /**
   * Pause, resume or stop. Tenant and workflow are part of the reference: a run that does not match is AppError 404.
   * Pausing a paused run, or any other command whose effect is already there, changes nothing; one that cannot apply is
   * AppError 409 with the core's code.
   */
  command(
    ref: RunRef,
    command: { type: 'pause' | 'resume'; by: string } | { type: 'stop'; mode: 'immediate' | 'graceful'; by: string },
  ): Promise<RunSnapshot>;
  /** Answers a human task. AppError 404 (no such run or task), 409 (already answered). */
  completeTask(ref: RunRef, answer: { step: string; approved: boolean; result: JsonMap; by: string }): Promise<void>;
  /**
   * Calls the listener with committed events and refused starts, in order within a run. Returns unsubscribe.
   * `onInterrupted`: this process has stopped leading, so the listener may have missed committed events; the log has
   * them.
   */
  subscribe(
    filter: { tenantId: string; workflowId?: string; runId?: string },
    listener: (items: StreamItem[]) => void,
    onInterrupted?: () => void,
  ): () => void;
  status(): OrchestratorStatus;
  /** Returns whether this process executes the tenant's runs, so that their events and live text arrive here. */
  leads(tenantId: string): boolean;
  /**
   * Returns which process executes the tenant's runs. Costs nothing, and may be a second behind where it names another
   * node; never `here` unless `leads(tenantId)`.
   */
  ownerOf(tenantId: string): Owner;
  /** The shards of which this process executes the runs; none while it does not lead. */
  shards(): Shards;
  /** Returns whether this process does the jobs of the deployment that one process at a time does. */
  leadsJobs(): boolean;
  /**
   * Why the status is `unavailable`, as a sentence that helps an operator; null in any other status, or if
   * the reason is not known yet.
   */
  unavailableReason(): string | null;
  /**
   * Call this after committing a change of a workspace's prices or balance: the orchestrator reads it again
   * immediately. Does nothing while not leading.
   */
  creditsChanged(tenantId: string): void;
}

export type RunRef = { tenantId: string; projectId: string; workflowId: string; runId: string };

/** Returns whether the same command may succeed a moment later: the service, or the tenant's share of it, is used up. */
export const isBusy = ({ status, code }: AppError): boolean =>
  status === 503 || code === 'too_much_memory' || code === 'too_many_writes';
