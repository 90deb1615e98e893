import type { Logger } from '../../../platform/logger.ts';
import type { OrchestratorStatus } from '../../ports/orchestrator.ts';

/**
 * While an outage lasts, one in this many attempts to lead is reported: at the longest
 * intervals, one every 20 to 100 s.
 */
const REMINDER_EVERY = 10;
/**
 * The maximum number of reasons reported for one outage. A full disk alternates between several, some of which
 * contain the name of a file, and each would be a line.
 */
const MAX_REASONS = 3;

/**
 * Tells operators when this process can no longer lead, why, and when it can again: once for each reason, however often
 * it tries in between.
 */
export class LeadershipLog {
  readonly #logger: Logger;
  /** The reasons reported since the outage began; empty while all is well. */
  readonly #reasons = new Set<string>();
  /** Attempts that failed since the outage began. */
  #attempts = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  status(status: OrchestratorStatus): void {
    if (this.#reasons.size === 0) this.#logger.info({ status }, 'orchestrator');
    else this.#logger.debug({ status }, 'orchestrator');
  }

  recovered(result: { recovered: number }): void {
    if (result.recovered === 0) return;
    if (this.#reasons.size === 0) this.#logger.info(result, 'runs loaded');
    else this.#logger.debug(result, 'runs loaded');
  }

  /** Call this when an attempt to lead failed, or the leadership ended. */
  cannotLead(reason: string, error: unknown): void {
    this.#attempts += 1;
    if (!this.#reasons.has(reason) && this.#reasons.size < MAX_REASONS) {
      this.#reasons.add(reason);
      this.#logger.error({ err: error, reason }, 'the orchestrator cannot lead');
    } else if (this.#attempts % REMINDER_EVERY === 0)
      this.#logger.warn({ reason, attempts: this.#attempts }, 'the orchestrator still cannot lead');
  }

  /** Call this when all is well: this process leads and has written, or another one leads. */
  backInOrder(status: OrchestratorStatus): void {
    if (this.#reasons.size === 0) return;
    const attempts = this.#attempts;
    this.#reasons.clear();
    this.#attempts = 0;
    this.#logger.info({ status, attempts }, 'the orchestrator is in order again');
  }
}
