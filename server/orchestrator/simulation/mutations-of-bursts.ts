import type { Mutation } from './mutations.ts';

const RUN = 'runtime/runs/live-run.ts';
const AHEAD = 'runtime/runs/steps-ahead.ts';

/** Ways to break what a turn decides ahead (docs/adr/0037-a-turn-decides-pure-steps.md). */
export const BURSTS: readonly Mutation[] = [
  {
    name: 'a turn decides steps ahead that no attempt in the log leads to',
    file: RUN,
    find: 'if (!turn.endsAttempt || this.#separately ||',
    replace: 'if (this.#separately ||',
    caughtBy: ['bursts'],
  },
  {
    name: 'the charges of a turn are known only at its end',
    file: RUN,
    find: 'this.#credits.send(turn.takeCharges());',
    replace: 'queueMicrotask(() => this.#credits.send(turn.takeCharges()));',
    caughtBy: ['credits'],
  },
  {
    name: 'the charges of a burst are released before its commit',
    file: RUN,
    find: 'const ahead = this.#decideAhead(turn);\n    if (',
    replace: 'const ahead = this.#decideAhead(turn);\n    if (ahead.length > 0) this.#credits.sent(false);\n    if (',
    caughtBy: ['credits'],
  },
  {
    name: 'the price of a step that a burst starts is released before its commit',
    file: RUN,
    find: 'const ahead = this.#decideAhead(turn);\n    if (',
    replace:
      'const ahead = this.#decideAhead(turn);\n    if (ahead.length > 0) for (const { step } of turn.started) this.#credits.release(step);\n    if (',
    caughtBy: ['credits'],
  },
  {
    name: 'the next step is executed before the commit of the turn',
    file: RUN,
    find: 'all.push(...ended);\n    }',
    replace:
      'all.push(...ended);\n    }\n    for (const started of turn.started.splice(0)) this.#attempts.start(started);',
    caughtBy: ['durability', 'order', 'slots'],
  },
  {
    name: 'a stop is decided after the steps that follow in its turn',
    file: RUN,
    find: 'const answers = this.#decide(messages, turn);\n    const ahead = this.#decideAhead(turn);',
    replace:
      "const isStop = ({ command }: Message) => command.type === 'stop';\n    const first = this.#decide(messages.filter(message => !isStop(message)), turn);\n    const ahead = this.#decideAhead(turn);\n    const answers = [...first, ...this.#decide(messages.filter(isStop), turn)];",
    caughtBy: ['bursts'],
    knobs: { commands: 16 },
  },
  {
    name: 'no number of steps ends a burst',
    file: AHEAD,
    find: 'this.#steps >= steps || this.#bytes >= bytes',
    replace: 'this.#bytes >= bytes',
    caughtBy: ['bursts'],
  },
  {
    name: 'no size of results ends a burst',
    file: AHEAD,
    find: 'this.#steps >= steps || this.#bytes >= bytes',
    replace: 'this.#steps >= steps',
    caughtBy: ['bursts'],
  },
  {
    name: 'no time ends a burst',
    file: AHEAD,
    find: 'return stopwatch() - this.#beganAt >= ms;',
    replace: 'return false;',
    caughtBy: ['bursts'],
  },
  {
    name: 'a step that may have ended a process is decided ahead again',
    file: RUN,
    find: 'separately === true || diedDuring(state, host.leader)',
    replace: 'separately === true',
    caughtBy: ['bursts'],
    knobs: { oddities: 60 },
  },
  {
    name: 'each step that is decided ahead keeps another slot',
    file: RUN,
    find: 'this.#starts.granted += ended.length;',
    replace: '',
    caughtBy: ['slots', 'not-stuck', 'liveness', 'fairness'],
  },
  {
    name: 'a step starts before the end of those that began beside it',
    file: RUN,
    find: 'ended.push(this.#endOf(evaluated.attempt, evaluated.outcome));',
    replace:
      'this.#starts.granted += 1;\n      this.#decide([this.#endOf(evaluated.attempt, evaluated.outcome)], turn);',
    caughtBy: ['bursts'],
  },
];
