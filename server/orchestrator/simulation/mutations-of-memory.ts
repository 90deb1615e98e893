import type { Mutation } from './mutations.ts';

const LOADER = 'runtime/runs/loader.ts';
const RESULTS = 'runtime/memory/stored-results.ts';

/** Ways to hold too much in memory, to see wrong values, and to die repeatedly of the same run. */
export const MEMORY: readonly Mutation[] = [
  {
    name: 'a run that cannot be read fails those read with it',
    file: LOADER,
    find: "if (!read.ok) throw new RunUnreadable('the log of the run cannot be read', { cause: read.error });",
    replace:
      "if (!read.ok) { this.abandon(read.error); throw new RunUnreadable('the log of the run cannot be read'); }",
    caughtBy: ['not-stuck', 'answers', 'liveness'],
  },
  {
    name: 'runs that were left out of a batch are not read again',
    file: LOADER,
    find: 'lane.putBack(batch.filter(({ runId }) => again.has(runId)));',
    replace: '',
    caughtBy: ['not-stuck', 'answers', 'shutdown'],
  },
  {
    name: 'runs are loaded although memory is used up',
    file: LOADER,
    find: 'while (!memory.hasRoom && !lane.isEmpty) {',
    replace: 'while (false as boolean) {',
    caughtBy: ['memory'],
  },
  {
    name: 'runs are started although memory is used up',
    file: 'runtime/runs/run-starts.ts',
    find: 'resources.memory.admit(tenantId, this.#bytesOfParent(data));',
    replace: '',
    caughtBy: ['memory'],
  },
  {
    name: 'a repeated start is refused for want of what its own run has taken',
    file: 'runtime/runs/run-starts.ts',
    find: 'if (await this.#exists(runId)) throw runIdTaken();',
    replace: '',
    caughtBy: ['durability'],
  },
  {
    name: 'a run that has ended still counts',
    file: 'runtime/runtime.ts',
    find: 'run.leaveMemory();\n    this.observer.runReleased(run.identity.runId);',
    replace: 'this.observer.runReleased(run.identity.runId);',
    caughtBy: ['memory', 'not-stuck', 'liveness'],
  },
  {
    name: 'no run is loaded when memory is free again',
    file: 'runtime/memory/live-memory.ts',
    find: 'for (const act of this.#whenRoom.splice(0)) act();',
    replace: 'this.#whenRoom.length = 0;',
    caughtBy: ['not-stuck'],
  },
  {
    name: 'results that were loaded are never released',
    file: RESULTS,
    find: 'this.#released = true;\n    this.#texts.clear();',
    replace: 'this.#released = true;\n    return;\n    this.#texts.clear();',
    caughtBy: ['memory', 'not-stuck'],
  },
  {
    name: 'the cache of results has no limit',
    file: 'runtime/memory/stored-results.ts',
    find: 'if (this.#texts.has(id) || text.length > this.#limit) return;',
    replace:
      'if (this.#texts.has(id)) return;\n    this.#texts.set(id, text);\n    this.#size += text.length;\n    return;',
    caughtBy: ['memory'],
  },
  {
    name: 'a step sees the large result of another step',
    file: RESULTS,
    find: 'this.#cache.put(id, text);\n        texts.set(step, text);',
    replace: 'this.#cache.put(id, text);\n        texts.set(step, [...(read?.values() ?? [])][0] ?? text);',
    caughtBy: ['replay'],
    knobs: { heavy: 60 },
  },
  {
    name: 'a step starts before its large results are loaded',
    file: 'runtime/runs/live-attempt.ts',
    find: 'else void this.#loadAndExecute(type, wanted);',
    replace: 'else void this.#execute(type);',
    caughtBy: ['defect', 'undisturbed'],
  },
  {
    name: 'results that could not be read are not read again',
    file: 'runtime/runs/live-attempt.ts',
    find: 'if (this.#live) void this.#loadAndExecute(type, results);',
    replace: '',
    caughtBy: ['liveness', 'slots', 'not-stuck'],
    knobs: { heavy: 60 },
  },
  {
    name: 'the text of a large result is not written',
    file: 'turn/turn.ts',
    find: 'if (large !== null && events.length > 0) this.#store(large);',
    replace: '',
    caughtBy: ['replay'],
  },
  {
    name: 'a turn takes all results that have arrived',
    file: 'runtime/runs/mailbox.ts',
    find: 'if (count > 0 && bytes > maxBytes) return this.#messages.splice(0, count);',
    replace: '',
    caughtBy: ['log'],
    knobs: { heavy: 60 },
  },
  {
    name: 'results that did not fit into a turn are forgotten',
    file: 'runtime/runs/mailbox.ts',
    find: 'return this.#messages.splice(0, count);',
    replace: 'return this.takeAll().slice(0, count);',
    caughtBy: ['not-stuck', 'slots', 'answers', 'memory'],
    knobs: { heavy: 60 },
  },
  {
    name: 'a run has no budget',
    file: 'runtime/memory/run-budget.ts',
    find: 'fits(state.bytes, command.result, maxBytes)) return command;',
    replace: 'maxBytes > 0) return command;',
    caughtBy: ['memory'],
    knobs: { heavy: 100 },
  },
  {
    name: 'the process dies repeatedly while it loads the same run',
    file: 'runtime/runs/load-suspects.ts',
    find: 'return deaths < MAX_LOAD_DEATHS ? null :',
    replace: 'return deaths < 1_000 ? null :',
    caughtBy: ['liveness'],
    knobs: { faults: 12 },
  },
  {
    name: 'a run during whose loading processes died is loaded with others',
    file: LOADER,
    find: 'suspects.isEmpty ? this.#waiting.take(most)',
    replace: 'most > 0 ? this.#waiting.take(most)',
    caughtBy: ['quarantine', 'liveness'],
  },
];
