import type { AppError } from '../../platform/errors.ts';
import type { AttemptRef, LiveRun } from '../executors/embedded/live-run.ts';
import { Runtime, type RuntimeServices } from '../executors/embedded/runtime.ts';
import { checkReplay } from './checkers/replay.ts';
import { SlotWatch } from './checkers/slots.ts';
import { Violation } from './checkers/violation.ts';
import type { Session } from './postgres.ts';
import type { Server } from './server.ts';

/** The real runtime, watched where it speaks to its parts; nothing of what it does is changed. */
export class ObservedRuntime extends Runtime {
  readonly over = new AbortController();
  readonly slots: SlotWatch;
  readonly #server: Server;

  constructor(server: Server, services: RuntimeServices, session: Session) {
    super(services, session, cause => session.break(cause));
    this.#server = server;
    this.slots = new SlotWatch(server.at, server.config);
  }

  died(): void {
    this.over.abort();
  }

  override claim(run: LiveRun): void {
    this.slots.claims(run);
    super.claim(run);
  }

  override releaseSlot(tenantId: string): void {
    this.slots.released(tenantId);
    super.releaseSlot(tenantId);
  }

  override committed(run: LiveRun, turn: { isNew: boolean; ended: boolean }): void {
    super.committed(run, turn);
    const { at, postgres, alive } = this.#server;
    if (!alive) return;
    if (run.quiescent && !turn.ended) at.count('left memory');
    at.check(() => {
      const logged = postgres.auditor.run(run.identity.runId);
      if (logged === undefined || run.state.seq > logged.state.seq)
        throw new Violation('replay', `${run.identity.runId} is thought to be further than its log`);
      // Another process may have written meanwhile: this one learns it from its next write.
      if (run.state.seq === logged.state.seq) checkReplay(run.state, logged.state);
    });
  }

  override appendFailed(run: LiveRun, failure: { error: unknown; isNew: boolean; outcomes: AttemptRef[] }): AppError {
    return super.appendFailed(run, failure);
  }

  /** After a graceful shutdown nothing is at work any more. */
  checkClosed(): void {
    const left = this.#server.work.executingOn(this.#server);
    if (left.length > 0)
      throw new Violation(
        'shutdown',
        `${left.length} attempts (${left.map(e => e.attempt.run.id + e.attempt.step.id + e.plan.kind)}) are at work after the shutdown`,
      );
  }
}
