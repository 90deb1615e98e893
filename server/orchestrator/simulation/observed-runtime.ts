import type { LogEntry } from '../log/index.ts';
import type { LeaderSession } from '../runtime/leadership/leadership.ts';
import type { LiveRun } from '../runtime/runs/live-run.ts';
import type { Message } from '../runtime/runs/mailbox.ts';
import type { SlotKind } from '../runtime/runs/slots.ts';
import { Runtime } from '../runtime/runtime.ts';
import type { RuntimeServices } from '../runtime/runtime-services.ts';
import { BurstWatch } from './checkers/bursts.ts';
import { CreditWatch } from './checkers/credits.ts';
import { checkReplay } from './checkers/replay.ts';
import { ShareWatch } from './checkers/shares.ts';
import { SlotWatch } from './checkers/slots.ts';
import { Violation } from './checkers/violation.ts';
import type { Server } from './server.ts';

/** The maximum time that the simulation expects a shutdown to wait for the database. */
const MAX_FLUSH_MS = 5_000;
/** The longest that a shard that is to move accepts nothing. */
const GIVES_WITHIN_MS = 2_500;

/** The real runtime, observed where it calls its parts; its behavior is unchanged. */
export class ObservedRuntime extends Runtime {
  readonly slots: SlotWatch;
  readonly credits: CreditWatch;
  readonly shares: ShareWatch;
  readonly bursts: BurstWatch;
  readonly #server: Server;

  constructor(server: Server, services: RuntimeServices, session: LeaderSession) {
    const shares = new ShareWatch(server.at, server.config.writerLimits);
    const commit = (batch: readonly LogEntry[]) => {
      shares.sent(batch);
      return session.commit(batch);
    };
    super(services, { commit }, cause => session.break(cause));
    this.shares = shares;
    const connection = server.session;
    this.#server = server;
    this.bursts = new BurstWatch(server.at, server.config.ahead);
    this.slots = new SlotWatch(server.at, server.config);
    this.credits = new CreditWatch(server.at, server.postgres.database, tenantId =>
      server.postgres.holdsFor(connection, tenantId),
    );
  }

  override async close(graceMs: number): Promise<void> {
    const { at } = this.#server;
    const startedAt = at.agenda.now;
    await super.close(graceMs);
    if (this.#server.alive) at.check(() => this.#checkClosed(startedAt));
  }

  override async give(shard: number, signal: AbortSignal): Promise<boolean> {
    const { at, work, postgres, topology } = this.#server;
    const startedAt = at.agenda.now;
    const isOfShard = (tenantId: string) => topology?.shardOf(tenantId) === shard;
    const executing = work.executingOn(this.#server);
    const given = await super.give(shard, signal);
    if (!this.#server.alive) return given;
    at.count(given ? 'shard given' : 'shard kept, because its attempts did not end');
    if (
      at.agenda.now - startedAt > GIVES_WITHIN_MS &&
      !this.#server.isFrozen &&
      !this.#server.wasFrozenSince(startedAt)
    )
      at.fail('moves', `shard ${shard} waited ${at.agenda.now - startedAt} ms to be given`);
    this.slots.forget(isOfShard);
    if (given) this.credits.forget(isOfShard);
    // What a lost session wrote last is not known here, and nothing that follows is written.
    if (!given || this.#server.session?.healthy !== true) return given;
    for (const { attempt, signal: aborting } of executing) {
      const run = aborting.aborted ? postgres.auditor.run(attempt.run.id) : undefined;
      const step = run?.history.step(attempt.step.id);
      if (run !== undefined && isOfShard(run.tenantId) && step?.inFlight && step.attempt === attempt.attempt)
        at.fail('moves', `"${attempt.step.id}" of ${run.id} is aborted for balance`);
    }
    return true;
  }

  override schedule(run: LiveRun, isUrgent?: boolean): void {
    const { at } = this.#server;
    // At this point the admitted start counts itself. A called run may take the memory of the run that called it.
    const called = at.scenario(run.identity.runId).data.parent !== undefined;
    if (run.state.status === null && !called) this.#checkMemory(run);
    if (isUrgent) this.bursts.stopArrived(run.identity.runId);
    super.schedule(run, isUrgent);
  }

  override claim(run: LiveRun): void {
    if (this.accepts(run.tenantId)) this.slots.claims(run);
    super.claim(run);
  }

  override append(entry: LogEntry): Promise<void> {
    this.bursts.appended(entry);
    const answered = this.credits.appended(entry);
    const settled = this.shares.appended(entry);
    const appended = super.append(entry);
    appended.then(
      () => answered(true),
      () => answered(false),
    );
    appended.then(settled, settled);
    return appended;
  }

  override releaseSlot(tenantId: string, kind: SlotKind): void {
    this.slots.released(tenantId, kind);
    super.releaseSlot(tenantId, kind);
  }

  override moveToCalls(tenantId: string): boolean {
    const moved = super.moveToCalls(tenantId);
    this.slots.moved(tenantId, moved);
    return moved;
  }

  override decideAgain(run: LiveRun, messages: readonly Message[]): void {
    this.#server.at.count('turn decided again, step by step');
    super.decideAgain(run, messages);
  }

  override committed(run: LiveRun, turn: { isNew: boolean; ended: boolean }): void {
    super.committed(run, turn);
    const { at, postgres, alive } = this.#server;
    if (!alive) return;
    if (run.quiescent && !turn.ended) at.count('left memory');
    // A quarantined run holds no values.
    if (run.quarantined !== null) return;
    at.check(() => {
      const logged = postgres.auditor.run(run.identity.runId);
      if (logged === undefined || run.state.seq > logged.state.seq)
        throw new Violation('replay', `${run.identity.runId} is thought to be further than its log`);
      // Another process may have written meanwhile. This process learns that from its next write.
      if (run.state.seq === logged.state.seq) checkReplay(run.state, logged.state);
    });
  }

  /**
   * A waiting tenant gets its guaranteed slots, unless no tenant gets any: the process is frozen or about
   * to end, or the log is full.
   */
  checkGuarantees(): void {
    this.slots.checkGuarantees(() => this.#server.isFrozen || !this.#server.leads || this.load().backlogRows > 0);
  }

  /**
   * Checks that a run starts only while the runs of its tenant take less memory than is free, or than the tenant is
   * guaranteed.
   */
  #checkMemory({ identity, state }: LiveRun): void {
    const { memory, limits } = this.resources;
    const held = memory.heldBy(identity.tenantId) - state.residentBytes;
    const others = memory.total - state.residentBytes;
    const free = Math.max(limits.liveBytes - others, limits.liveBytes / 1_024);
    if (held >= Math.min(free, limits.liveBytesPerTenant))
      this.#server.at.fail('memory', `${identity.runId} starts beside ${held} bytes of its tenant, ${free} are free`);
  }

  /** Checks that after a graceful shutdown no attempt is executing, and everything that could be written is written. */
  #checkClosed(startedAt: number): void {
    const { work, session, at } = this.#server;
    const left = work.executingOn(this.#server);
    if (left.length > 0) throw new Violation('shutdown', `${left.length} attempts are at work after the shutdown`);
    if (session?.committing === true && at.agenda.now - startedAt < MAX_FLUSH_MS)
      throw new Violation('shutdown', 'a commit is under way after the shutdown');
  }
}
