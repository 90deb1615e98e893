import { type Command, CommandRefused, type RunEvent, type RunState } from '../core/index.ts';
import type { Agenda } from './agenda.ts';
import { checkReplay } from './checkers/replay.ts';
import type { Engine } from './engine.ts';
import type { Log } from './log.ts';
import type { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';
import type { Work } from './work.ts';

/** What became of a command. `unknown`: it may or may not have been written. */
export type Reply =
  | { kind: 'done'; events: readonly RunEvent[]; seq: number }
  | { kind: 'refused'; code: CommandRefused['code'] }
  | { kind: 'unknown' };

type Letter = { command: Command; reply: (reply: Reply) => void };

/** What is decided between two writes of a run: written as one, answered when that is done. */
type Turn = { readonly from: number; readonly events: RunEvent[]; readonly replies: ((lost?: Reply) => void)[] };

type LiveRun = {
  readonly id: string;
  readonly tenant: string;
  state: RunState;
  readonly mailbox: Letter[];
  writing: boolean;
  /** Steps with an attempt that this process works on. */
  readonly working: Set<string>;
  /** Steps that wait for a slot, or for the answer to `begin_attempt` or `abandon_attempt`. */
  readonly asked: Set<string>;
  readonly timers: Set<string>;
};

export type Surroundings = { engine: Engine; log: Log; agenda: Agenda; random: Random; work: Work; acksEarly: boolean };

/**
 * One orchestrator process as the runtime is meant to be: a mailbox per run, decided in turns; nothing is
 * answered or acted upon before it is written; then what should be going on is compared with what goes on. All it knows is lost when it dies.
 */
export class Process {
  readonly #at: Surroundings;
  readonly #scheduler = new Scheduler();
  readonly #runs = new Map<string, LiveRun>();
  alive = true;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  /** Takes up every run that has not ended. */
  recover(): void {
    for (const { id, history } of this.#at.log.runs.values()) {
      if (history.status !== null && !history.isTerminal) this.#carryOn(this.#live(id));
    }
  }

  submit(id: string, command: Command, reply: (reply: Reply) => void = () => {}): void {
    if (!this.alive) return;
    const run = this.#live(id);
    run.mailbox.push({ command, reply });
    this.#read(run);
  }

  /** Asks for a step out of turn, as a timer that fires early would: the core must know better than whoever asks. */
  nudge(id: string, step: string): void {
    this.#queue(this.#live(id), step);
    this.submit(id, { type: 'task_timed_out', step });
    this.submit(id, { type: 'abandon_attempt', step });
  }

  #live(id: string): LiveRun {
    const known = this.#runs.get(id);
    if (known !== undefined) return known;
    const { log } = this.#at;
    const run: LiveRun = {
      id,
      tenant: log.run(id).tenant,
      state: log.load(id),
      mailbox: [],
      writing: false,
      working: new Set(),
      asked: new Set(),
      timers: new Set(),
    };
    this.#runs.set(id, run);
    return run;
  }

  /** Decides all that is in the mailbox in one turn; while that is being written, mail collects. */
  #read(run: LiveRun): void {
    if (run.writing || run.mailbox.length === 0) return;
    const turn: Turn = { from: run.state.seq, events: [], replies: [] };
    for (const letter of run.mailbox.splice(0)) this.#decide(run, turn, letter);
    if (turn.events.length === 0) {
      for (const reply of turn.replies) reply();
      return;
    }
    run.writing = true;
    this.#at.agenda.after(this.#at.random.below(4), () => this.#write(run, turn));
  }

  /** Decides upon the state as the turn has changed it so far; what is answered relies on it and waits for its commit. */
  #decide(run: LiveRun, turn: Turn, { command, reply }: Letter): void {
    const { engine, agenda, acksEarly } = this.#at;
    const answer = (outcome: Reply) => {
      if (acksEarly) reply(outcome);
      else turn.replies.push(lost => reply(lost ?? outcome));
    };
    try {
      const events = engine.decide(run.state, command, agenda.now);
      for (const event of events) engine.evolve(run.state, event);
      turn.events.push(...events);
      answer({ kind: 'done', events, seq: run.state.seq });
    } catch (error) {
      if (!(error instanceof CommandRefused)) throw error;
      answer({ kind: 'refused', code: error.code });
    }
  }

  /** A crash before this loses the events; one after it loses only the news that they are written. */
  #write(run: LiveRun, turn: Turn): void {
    if (!this.alive) return;
    const { log, agenda, random, work } = this.#at;
    const written = log.append(run.id, turn.from, turn.events) === 'written';
    const known = written && !work.losesAcknowledgement();
    agenda.after(random.below(3), () => {
      if (!this.alive) return;
      run.writing = false;
      if (known) this.#compare(run);
      // Whoever is not sure what is written reads it.
      else run.state = log.load(run.id);
      for (const reply of turn.replies) reply(known ? undefined : { kind: 'unknown' });
      this.#carryOn(run);
      this.#read(run);
    });
  }

  #compare(run: LiveRun): void {
    const logged = this.#at.log.run(run.id);
    // Another process may have written meanwhile: this one learns it from its next write.
    if (logged.events.length === run.state.seq) checkReplay(run.state, logged.state);
  }

  /** Compares what should be going on with what goes on, and asks for the difference. */
  #carryOn(run: LiveRun): void {
    const { ready, inFlight, timers } = this.#at.engine.effects(run.state);
    for (const step of ready) this.#queue(run, step);
    for (const { step } of inFlight) {
      if (run.working.has(step) || run.asked.has(step)) continue;
      if (run.state.stopRequested !== null) this.#abandon(run, step);
      else if (run.state.status === 'running') this.#queue(run, step);
    }
    for (const { step, kind, dueAt } of timers) {
      const name = `${kind} ${step} ${dueAt}`;
      if (run.timers.has(name)) continue;
      run.timers.add(name);
      this.#at.agenda.after(dueAt - this.#at.agenda.now, () => {
        run.timers.delete(name);
        if (!this.alive) return;
        if (kind === 'retry') this.#queue(run, step);
        else this.submit(run.id, { type: 'task_timed_out', step });
      });
    }
    this.#grant();
  }

  #abandon(run: LiveRun, step: string): void {
    run.asked.add(step);
    this.#at.agenda.after(0, () => {
      this.submit(run.id, { type: 'abandon_attempt', step }, () => run.asked.delete(step));
    });
  }

  #queue(run: LiveRun, step: string): void {
    if (run.asked.has(step) || run.working.has(step)) return;
    run.asked.add(step);
    this.#scheduler.add(run.tenant, { run: run.id, step });
    this.#at.agenda.after(0, () => this.#grant());
  }

  #grant(): void {
    if (!this.alive) return;
    for (let slot = this.#scheduler.next(); slot !== undefined; slot = this.#scheduler.next()) {
      const { tenant, job } = slot;
      this.submit(job.run, { type: 'begin_attempt', step: job.step }, reply => {
        const run = this.#live(job.run);
        run.asked.delete(job.step);
        const begun = reply.kind === 'done' ? reply.events.find(event => event.type === 'step_started') : undefined;
        if (begun !== undefined) {
          this.#begin(run, job.step, begun.attempt);
          return;
        }
        this.#scheduler.release(tenant);
        // A stop may have come first: what was to be begun again is now to be abandoned.
        this.#at.agenda.after(0, () => this.alive && this.#carryOn(run));
      });
    }
  }

  #begin(run: LiveRun, step: string, attempt: number): void {
    run.working.add(step);
    this.#at.work.begin(this, run.state, step, attempt, () => {
      run.working.delete(step);
      this.#scheduler.release(run.tenant);
      if (this.alive) this.#carryOn(run);
    });
  }
}
