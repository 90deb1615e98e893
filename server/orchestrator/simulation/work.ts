import type { Command, JsonValue, RunState } from '../core/index.ts';
import { stepSpec, type TaskRequest } from '../core/index.ts';
import type { Agenda } from './agenda.ts';
import type { Process } from './process.ts';
import type { Random } from './random.ts';
import type { Knobs } from './scenario.ts';

type Outcome = Extract<Command, { type: 'attempt_succeeded' | 'attempt_failed' | 'attempt_waiting' }>;

/** What attempts do: take their time, log, fail, ask a person, or take the process down. */
export class Work {
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #knobs: Knobs;
  /** Nothing goes wrong any more: no crash, no lost acknowledgement. */
  calm = false;
  crash: () => void = () => {};

  constructor(agenda: Agenda, random: Random, knobs: Knobs) {
    this.#agenda = agenda;
    this.#random = random;
    this.#knobs = knobs;
  }

  losesAcknowledgement(): boolean {
    return !this.calm && this.#knobs.faults > 0 && this.#random.chance(0.02);
  }

  begin(process: Process, state: RunState, step: string, attempt: number, finished: () => void): void {
    const random = this.#random;
    const spec = stepSpec(state, step);
    const duration = random.chance(0.5) ? random.below(20) : random.below(2000);
    if (spec.poison === true && random.chance(0.8)) {
      this.#agenda.after(1, () => process.alive && this.crash());
    }
    if (random.chance(0.1)) {
      const log: Command = { type: 'attempt_log', step, attempt, lines: random.chance(0.8) ? ['working'] : [] };
      this.#agenda.after(duration / 2, () => process.submit(state.runId, log));
    }
    const outcome = this.#outcome(spec.type, step, attempt);
    this.#agenda.after(duration, () => {
      process.submit(state.runId, outcome, () => finished());
      // A report that is sent twice must count once.
      if (random.chance(0.05)) process.submit(state.runId, outcome);
    });
  }

  #outcome(type: string, step: string, attempt: number): Outcome {
    const random = this.#random;
    const log = random.chance(0.15) ? { log: ['done'] } : {};
    if (random.below(100) < this.#knobs.failures) {
      const error = { code: 'boom', message: 'It broke.' };
      const retryable = random.chance(0.8);
      const retryAfter = random.chance(0.1) ? { retryAfterMs: random.below(5000) } : {};
      return { type: 'attempt_failed', step, attempt, error, retryable, random: random.next(), ...retryAfter, ...log };
    }
    if (type === 'human_task') return { type: 'attempt_waiting', step, attempt, task: this.#task() };
    return { type: 'attempt_succeeded', step, attempt, result: this.#result(type), ...log };
  }

  #task(): TaskRequest {
    const random = this.#random;
    return {
      name: 'Approve',
      instructions: '',
      form: null,
      assignees: [],
      due_at: random.chance(0.4) ? this.#agenda.now + random.below(8000) : null,
      on_timeout: random.pick(['fail', 'approve', 'reject']),
    };
  }

  #result(type: string): JsonValue {
    const value = this.#random.chance(0.5);
    if (type === 'condition') return { value, branch: value ? 'then' : 'else' };
    return this.#random.pick<JsonValue>([null, 1, 'text', { branch: 'then' }]);
  }
}
