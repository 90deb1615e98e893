import type { Logger } from '../../../platform/logger.ts';
import type { OrchestratorStatus } from '../../ports/orchestrator.ts';

/**
 * While an outage lasts, one in this many attempts to lead is reported: at the longest
 * intervals, one every 20 to 100 s.
 */
const REMINDER_EVERY = 10;

/**
 * Tells operators when this process can no longer lead, why, and when it can again: once for each change, however often
 * it tries in between.
 */
export class LeadershipLog {
  readonly #logger: Logger;
  #reason: string | null = null;
  /** Attempts that failed since the outage began. */
  #attempts = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  status(status: OrchestratorStatus): void {
    if (this.#reason === null) this.#logger.info({ status }, 'orchestrator');
    else this.#logger.debug({ status }, 'orchestrator');
  }

  recovered(result: { recovered: number }): void {
    if (result.recovered === 0) return;
    if (this.#reason === null) this.#logger.info(result, 'runs loaded');
    else this.#logger.debug(result, 'runs loaded');
  }

  /** Call this when an attempt to lead failed, or the leadership ended. */
  cannotLead(reason: string, error: unknown): void {
    this.#attempts += 1;
    if (reason !== this.#reason) this.#logger.error({ err: error, reason }, 'the orchestrator cannot lead');
    else if (this.#attempts % REMINDER_EVERY === 0)
      this.#logger.warn({ reason, attempts: this.#attempts }, 'the orchestrator still cannot lead');
    this.#reason = reason;
  }

  /** Call this when all is well: this process leads and has written, or another one leads. */
  backInOrder(status: OrchestratorStatus): void {
    if (this.#reason === null) return;
    const attempts = this.#attempts;
    this.#reason = null;
    this.#attempts = 0;
    this.#logger.info({ status, attempts }, 'the orchestrator is in order again');
  }
}
