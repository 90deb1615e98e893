import { AppError } from '../../platform/errors.ts';
import type { Command, JsonMap } from '../core/index.ts';
import type { Orchestrator, RunRef, RunSnapshot } from '../ports/orchestrator.ts';
import type { Promises } from './checkers/promises.ts';
import { decisionOf } from './in-doubt.ts';
import { REFUSED, type Scenario } from './scenario.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

const PATIENCE_MS = 250;

/** A client's request to a process that has not been answered. */
export type Call = { readonly server: Server; readonly what: string };

/**
 * People and systems that send requests to runs. A client without an answer asks again. A client that gets an answer
 * relies on it, so it is checked against the log at that moment (docs/specification/runs.md#durability).
 */
export class Clients {
  readonly pending = new Set<Call>();
  /** Starts that are to be retried when some run has ended. */
  readonly postponed = new Set<Scenario>();
  readonly #at: Surroundings;
  readonly #promises: Promises;
  /** Returns a process that clients of a workspace can reach, undefined if there is none. */
  readonly #reach: (tenantId: string) => Server | undefined;
  #names = 0;

  constructor(at: Surroundings, promises: Promises, reach: (tenantId: string) => Server | undefined) {
    this.#at = at;
    this.#promises = promises;
    this.#reach = reach;
  }

  /** Repeats a start until its outcome is known. */
  start(scenario: Scenario): void {
    const { runId, tenantId, projectId, workflowId, data } = scenario;
    const call = (server: Server) => server.orchestrator.start({ runId, tenantId, projectId, workflowId, data });
    const retry = () => this.start(scenario);
    const refused = this.#refusal(scenario);
    this.#ask({ what: `start of ${runId}`, tenantId }, call, {
      resolved: () => {
        this.#at.count('start answered');
        this.#promises.started(scenario);
      },
      rejected: (error, server) => {
        if (error.code === 'too_many_writes') server.runtime?.shares.checkRefused(tenantId);
        if (error.code === 'insufficient_credits') {
          server.runtime?.credits.checkRefused(tenantId);
          this.postponed.add(scenario);
        } else if (error.status === 429 && this.#at.calm) this.postponed.add(scenario);
        else if (error.status === 503 || error.status === 429) this.#at.agenda.after(PATIENCE_MS, retry);
        refused(error, server);
      },
      unknown: retry,
    });
    if (this.#at.random.chance(0.05)) this.#twice(() => this.#startOnce(scenario));
  }

  /** Sends a random command, which may or may not be valid for the run. */
  anything(scenario: Scenario): void {
    const kind = this.#at.random.next();
    if (kind < 0.3) this.command(scenario, { type: 'pause', by: this.#name() });
    else if (kind < 0.57) this.command(scenario, { type: 'resume', by: this.#name() });
    else if (kind < 0.64) this.command(scenario, { type: 'stop', mode: 'immediate', by: this.#name() });
    else if (kind < 0.73) this.command(scenario, { type: 'stop', mode: 'graceful', by: this.#name() });
    else if (kind < 0.77) this.#stranger(scenario);
    else this.answer(scenario);
  }

  /** Answers one of the steps, most likely one that waits. */
  answer(scenario: Scenario): void {
    const { random } = this.#at;
    const waiting = this.#promises.waiting(scenario.runId);
    const steps = waiting.length > 0 && random.chance(0.8) ? waiting : scenario.graph.steps.map(({ id }) => id);
    const step = steps[random.below(steps.length)];
    if (step !== undefined) this.complete(scenario, step);
  }

  complete(scenario: Scenario, step: string): void {
    const isOdd = this.#at.trouble(0.05);
    const approved = this.#at.random.chance(0.5);
    this.#names += 1;
    const decision = decisionOf(this.#names, approved);
    const result: JsonMap = isOdd
      ? { text: REFUSED, ...decision.result }
      : { approved: 'forged', note: 1, ...decision.result };
    this.command(scenario, { type: 'complete_task', step, approved, result, by: decision.by });
  }

  command(scenario: Scenario, command: Exclude<Command, { type: 'start' }>, tries = 3): void {
    const known = this.#promises.known(scenario.runId);
    // completeTask() sends the same command, but does not return the snapshot.
    const asked = command as Parameters<Orchestrator['command']>[1];
    const call = (server: Server) => server.orchestrator.command(refOf(scenario), asked);
    const retry = () => {
      if (tries > 1) this.command(scenario, command, tries - 1);
    };
    this.#ask({ what: `${command.type} of ${scenario.runId}`, tenantId: scenario.tenantId }, call, {
      // A command that changes nothing is answered without a write, so a process that has lost the lead without knowing
      // it may give an outdated answer.
      resolved: (snapshot, server) =>
        this.#promises.commanded(
          scenario,
          command,
          snapshot,
          server.holdsFor(scenario.tenantId) && !this.#at.twoLed ? known : 0,
        ),
      rejected: (error, server) => {
        if (error.code === 'too_many_writes') server.runtime?.shares.checkRefused(scenario.tenantId);
        if (error.status === 503 || error.status === 429) this.#at.agenda.after(PATIENCE_MS, retry);
        this.#promises.refused(scenario, command, error, known);
      },
      unknown: retry,
    });
    if (tries === 3 && this.#at.random.chance(0.08)) this.#twice(() => this.command(scenario, command, 1));
  }

  /**
   * Whether another start is in progress. It counts until the log shows the end of its run,
   * even if that ended long ago.
   */
  get #starting(): boolean {
    return [...this.pending].some(({ what }) => what.includes('start of'));
  }

  #startOnce(scenario: Scenario): void {
    const { runId, tenantId, projectId, workflowId, data } = scenario;
    const call = (server: Server) => server.orchestrator.start({ runId, tenantId, projectId, workflowId, data });
    this.#ask({ what: `second start of ${runId}`, tenantId }, call, {
      resolved: () => this.#promises.started(scenario),
      rejected: this.#refusal(scenario),
      unknown: () => {},
    });
  }

  /** Returns a function that checks the refusal of a start that is sent now. */
  #refusal(scenario: Scenario): (error: AppError, server: Server) => void {
    const isInLog = this.#promises.known(scenario.runId) > 0;
    return (error, server) => {
      const committing = server.session?.committing === true || this.#starting;
      const known = isInLog && !server.missedLookup;
      this.#promises.startRefused(scenario, error, { committing, known });
    };
  }

  #twice(act: () => void): void {
    this.#at.count('command sent twice');
    this.#at.agenda.after(this.#at.random.below(3), act);
  }

  /** Sends a command as a caller of another tenant, or with an id that does not exist. */
  #stranger(scenario: Scenario): void {
    const wrong: RunRef = this.#at.random.chance(0.7)
      ? { ...refOf(scenario), tenantId: 'tenant-x' }
      : { ...refOf(scenario), runId: 'no-such-run' };
    const call = (server: Server) =>
      server.orchestrator.command(wrong, { type: 'stop', mode: 'immediate', by: 'stranger' });
    this.#ask({ what: `command of a stranger to ${scenario.runId}`, tenantId: scenario.tenantId }, call, {
      resolved: () => this.#at.fail('tenant', `a stranger stopped ${scenario.runId}`),
      rejected: error => {
        if (error.status === 503) return;
        this.#at.count(wrong.runId === scenario.runId ? 'wrong tenant' : 'unknown run');
        if (error.status !== 404) this.#at.fail('tenant', `a stranger got ${error.status} ${error.code}`);
      },
      unknown: () => {},
    });
  }

  /** Sends one request to one process: either it is answered, or the process dies and the client learns nothing. */
  #ask(
    { what, tenantId }: { what: string; tenantId: string },
    call: (server: Server) => Promise<RunSnapshot>,
    then: {
      resolved(snapshot: RunSnapshot, server: Server): void;
      rejected(error: AppError, server: Server): void;
      unknown(): void;
    },
  ): void {
    const server = this.#reach(tenantId);
    if (server === undefined) {
      this.#at.agenda.after(PATIENCE_MS, then.unknown);
      return;
    }
    const open: Call = { server, what };
    this.pending.add(open);
    const settle = (act: () => void) => {
      if (!this.pending.delete(open)) return;
      if (server.alive && server.seam()) this.#at.check(act);
      else this.#at.agenda.after(PATIENCE_MS, then.unknown);
    };
    // A client that is cut off by a crash asks again.
    server.whenDead(() => {
      if (!this.pending.delete(open)) return;
      this.#at.agenda.after(PATIENCE_MS, then.unknown);
    });
    let answer: Promise<RunSnapshot>;
    try {
      answer = call(server);
    } catch (error) {
      answer = Promise.reject(error);
    }
    answer.then(
      snapshot => settle(() => then.resolved(snapshot, server)),
      (error: unknown) =>
        settle(() => {
          if (!(error instanceof AppError)) throw error;
          this.#at.count(`refused ${error.status} ${error.code}`);
          if (error.status === 500) this.#at.fail('defect', `${what}: ${error.message} ${String(error.cause)}`);
          then.rejected(error, server);
        }),
    );
  }

  #name(): string {
    this.#names += 1;
    return `user ${this.#names}`;
  }
}

function refOf({ runId, tenantId, projectId, workflowId }: Scenario): RunRef {
  return { runId, tenantId, projectId, workflowId };
}
