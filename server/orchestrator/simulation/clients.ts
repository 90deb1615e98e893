import type { Command, RunStartedData } from '../core/index.ts';
import type { Agenda } from './agenda.ts';
import { Violation } from './checkers/violation.ts';
import type { Log } from './log.ts';
import type { Process, Reply } from './process.ts';
import type { Random } from './random.ts';

const PATIENCE_MS = 50;

/**
 * People and systems that ask things of runs. Whoever gets no answer asks again; whoever gets one relies on it
 * (engine.md, guarantee 1), which is checked against the log at that very moment.
 */
export class Clients {
  readonly #log: Log;
  readonly #agenda: Agenda;
  readonly #random: Random;
  /** The process that clients reach; undefined while there is none. */
  readonly #reach: () => Process | undefined;

  constructor(log: Log, agenda: Agenda, random: Random, reach: () => Process | undefined) {
    this.#log = log;
    this.#agenda = agenda;
    this.#random = random;
    this.#reach = reach;
  }

  start(run: string, data: RunStartedData): void {
    this.#ask(run, { type: 'start', data }, 100);
  }

  /** A command that may fit the run or not. */
  anything(run: string): void {
    const kind = this.#random.next();
    if (kind < 0.35) this.#ask(run, { type: 'pause', by: 'ann' }, 3);
    else if (kind < 0.65) this.#ask(run, { type: 'resume', by: 'ann' }, 3);
    else if (kind < 0.72) this.#ask(run, { type: 'stop', mode: 'immediate', by: 'ann' }, 3);
    else if (kind < 0.82) this.#ask(run, { type: 'stop', mode: 'graceful', by: 'ann' }, 3);
    else this.answer(run);
  }

  /** Answers one of the steps, most likely one that waits. */
  answer(run: string): void {
    const { state } = this.#log.run(run);
    const steps = this.#random.chance(0.8) ? [...state.waiting] : [...state.steps.keys()];
    const step = steps[this.#random.below(steps.length)];
    if (step !== undefined) this.#complete(run, step);
  }

  /** Does what the run waits for people to do. */
  help(run: string): void {
    const { state } = this.#log.run(run);
    if (state.status === 'paused' && state.stopRequested === null) this.#ask(run, { type: 'resume', by: 'ann' }, 3);
    for (const step of state.waiting) this.#complete(run, step);
  }

  #complete(run: string, step: string): void {
    const result = { approved: 'forged', note: 1 };
    this.#ask(run, { type: 'complete_task', step, approved: this.#random.chance(0.5), result, by: 'ann' }, 3);
  }

  #ask(run: string, command: Command, tries: number): void {
    let isAnswered = false;
    const again = () => {
      if (!isAnswered && tries > 1) this.#ask(run, command, tries - 1);
    };
    this.#reach()?.submit(run, command, reply => {
      if (reply.kind === 'unknown') return;
      isAnswered = true;
      this.#rely(run, command, reply);
    });
    this.#agenda.after(PATIENCE_MS, again);
  }

  #rely(run: string, command: Command, reply: Exclude<Reply, { kind: 'unknown' }>): void {
    const { events, history } = this.#log.run(run);
    const fail = (message: string) => new Violation('durability', `${command.type} of ${run} ${message}`);
    if (reply.kind === 'refused') {
      if (reply.code === 'run_not_started' && history.started !== null)
        throw fail('was refused, but the run had started');
      if (reply.code === 'run_already_ended' && !history.isTerminal)
        throw fail('was refused, but the run had not ended');
      return;
    }
    const written = events.slice(reply.seq - reply.events.length, reply.seq);
    if (written.length !== reply.events.length || written.some((event, index) => event !== reply.events[index])) {
      throw fail('was acknowledged, but is not in the log');
    }
  }
}
