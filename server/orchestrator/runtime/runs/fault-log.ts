import type { Logger } from '../../../platform/logger.ts';
import type { Consumption } from '../../core/index.ts';
import type { ObservedRun } from '../../ports/observer.ts';
import type { LiveAttempt } from './live-attempt.ts';

/** The maximum number of runs that one line names. */
const MAX_NAMED = 20;

/** The log lines about a run's faults: always with the run and its tenant, and the step if it concerns one. */
export class FaultLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The tenant is unknown: the run could not be read. */
  notLoaded(runId: string, error: unknown, againInMs: number): void {
    const fields = { err: error, run_id: runId, again_in_ms: againInMs };
    this.#logger.error(fields, 'a run could not be loaded; trying again');
  }

  quarantined(run: ObservedRun, reason: string): void {
    this.#logger.error(
      { ...about(run), reason },
      'a run is failed, because loading it ended the service several times',
    );
  }

  /** Rows with an invalid wake-up time; the runs are read from the log instead. */
  timersUnusable(runIds: readonly string[]): void {
    const named = runIds.slice(0, MAX_NAMED);
    this.#logger.error(
      { run_ids: named, runs: runIds.length },
      'stored wake-up times are unusable; reading them from the logs of the runs',
    );
  }

  creditsNotRead(whose: string, error: unknown): void {
    this.#logger.error({ err: error, tenant_id: whose }, 'credits could not be read; trying again');
  }

  /** A provider reports more usage than an attempt can be charged for. */
  excess(run: ObservedRun, step: string, said: readonly Consumption[]): void {
    this.#logger.error({ ...about(run), step_id: step, said }, 'an attempt used more than can be charged');
  }

  notWritten(run: ObservedRun, kind: string, error: unknown): void {
    this.#logger.error({ err: error, ...about(run), kind }, 'events of a run were not written');
  }

  cannotGoOn(run: ObservedRun, error: unknown): void {
    this.#logger.error({ err: error, ...about(run) }, 'a run could not continue because of a defect; trying again');
  }

  commandFailed(run: ObservedRun, command: string, error: unknown): void {
    this.#logger.error({ err: error, ...about(run), command }, 'a command failed because of a defect');
  }

  resultsNotLoaded({ run, step, attempt }: LiveAttempt, error: unknown): void {
    const fields = { run_id: run.id, tenant_id: run.tenantId, workflow_id: run.workflowId };
    this.#logger.error(
      { err: error, ...fields, step_id: step.id, attempt },
      'results that a step reads were not loaded',
    );
  }

  stepThrew({ run, step, attempt }: LiveAttempt, error: unknown): void {
    const fields = { run_id: run.id, tenant_id: run.tenantId, workflow_id: run.workflowId };
    this.#logger.error({ err: error, ...fields, step_id: step.id, attempt, type: step.type }, 'a step type threw');
  }
}

const about = ({ runId, tenantId, workflowId }: ObservedRun) => ({
  run_id: runId,
  tenant_id: tenantId,
  workflow_id: workflowId,
});
