import { AGENTS } from './mutations-of-agents.ts';
import { BURSTS } from './mutations-of-bursts.ts';
import { CALLS } from './mutations-of-calls.ts';
import { CREDITS } from './mutations-of-credits.ts';
import { GROWTH } from './mutations-of-growth.ts';
import { HAND_OVERS } from './mutations-of-hand-overs.ts';
import { IN_DOUBT } from './mutations-of-in-doubt.ts';
import { INPUTS } from './mutations-of-inputs.ts';
import { LEADING } from './mutations-of-leadership.ts';
import { MEMORY } from './mutations-of-memory.ts';
import { SHARES } from './mutations-of-shares.ts';
import { SKIPS } from './mutations-of-skips.ts';
import { SLOTS } from './mutations-of-slots.ts';
import { LOG_AND_RUNTIME } from './mutations-of-the-runtime.ts';
import type { Knobs } from './scenario.ts';

/** A way to break the engine: the exact text of a file that is replaced when it is loaded. */
export type Mutation = {
  readonly name: string;
  /** Relative to server/orchestrator. */
  readonly file: string;
  /** Occurs exactly once in the file; a test fails if it does not. */
  readonly find: string;
  readonly replace: string;
  /** One of these checkers must notice. */
  readonly caughtBy: readonly string[];
  /** Settings to simulate with, for a mutation that would otherwise take thousands of seeds to be noticed. */
  readonly knobs?: Partial<Knobs>;
};

const CORE: readonly Mutation[] = [
  {
    name: 'a step ends twice',
    file: 'core/attempts.ts',
    find: "emit(draft, { type: 'step_completed', step, attempt, data: { result, ...paidOf(command), ...ofAgent } });",
    replace:
      "emit(draft, { type: 'step_completed', step, attempt, data: { result, ...paidOf(command), ...ofAgent } });\n  emit(draft, { type: 'step_completed', step, attempt, data: { result, ...paidOf(command) } });",
    caughtBy: ['one-end', 'defect'],
  },
  {
    name: 'attempts in flight are not cancelled when the run ends',
    file: 'core/ending.ts',
    find: 'cancelStep(draft, id, ending.cancel, ending.causedBy);',
    replace: 'continue;',
    caughtBy: ['one-end'],
  },
  {
    name: 'a run is not completed when its last step ends',
    file: 'core/ending.ts',
    find: "changeStatus(draft, 'completed');",
    replace: 'return;',
    caughtBy: ['not-stuck'],
  },
  {
    name: 'a failed run counts as stopped',
    file: 'core/ending.ts',
    find: "changeStatus(draft, 'failed', {",
    replace: "changeStatus(draft, 'stopped', {",
    caughtBy: ['endings'],
  },
  {
    name: 'the wrong reason is given for a cancellation',
    file: 'core/ending.ts',
    find: "endAllOthers(draft, { cancel: 'run_failed',",
    replace: "endAllOthers(draft, { cancel: 'RUN_STOPPED',",
    caughtBy: ['endings'],
  },
  {
    name: 'an ended run takes commands',
    file: 'core/control.ts',
    find: 'if (isTerminal(state.status))',
    replace: 'if (state.status === null)',
    caughtBy: ['sequence', 'one-end'],
  },
  {
    name: 'a step is retried forever',
    file: 'core/attempts.ts',
    find: 'if (!retryable || failures >= retryCount ||',
    replace: 'if (!retryable ||',
    caughtBy: ['attempts'],
  },
  {
    name: 'a retry starts before its time',
    file: 'core/state.ts',
    find: 'retryAt !== undefined && (retryAt <= now ||',
    replace: 'retryAt !== undefined && (retryAt <= now + 60_000 ||',
    caughtBy: ['order'],
  },
  {
    name: 'a run continues after every failure',
    file: 'core/ending.ts',
    find: "spec.on_error === 'continue' && branches === null",
    replace: 'branches === null',
    caughtBy: ['endings'],
  },
  {
    name: 'a run that is being stopped continues after a failure',
    file: 'core/ending.ts',
    find: '!continues || draft.state.stopRequested !== null',
    replace: '!continues',
    caughtBy: ['endings', 'not-stuck'],
  },
  {
    name: 'the dependents of a step that failed and continues do not run',
    file: 'core/skips.ts',
    find: "return end.status !== 'completed' && end.error === undefined;",
    replace: "return end.status !== 'completed';",
    caughtBy: ['effects', 'not-stuck'],
  },
  {
    name: 'the error of a step is forgotten',
    file: 'runtime/runs/attempt-view.ts',
    find: 'return this.#state.steps.get(readStep(this.#state, this.step.id, step))?.error;',
    replace: 'return undefined;',
    caughtBy: ['replay'],
  },
  {
    name: 'a wait rings before its time',
    file: 'core/effects.ts',
    find: "yield { step, kind: 'wait', dueAt: until };",
    replace: "yield { step, kind: 'wait', dueAt: until - 1_000 };",
    caughtBy: ['effects'],
  },
  {
    name: 'a wait that is over does not carry the run on',
    file: 'core/waits.ts',
    find: "endStep(draft, step, { status: 'completed' });",
    replace: '',
    caughtBy: ['not-stuck'],
  },
  {
    name: 'a wait without a usable time is logged as it is',
    file: 'core/waits.ts',
    find: 'Number.isFinite(until) ? Math.min',
    replace: 'until !== 0 ? Math.min',
    caughtBy: ['effects', 'liveness'],
    knobs: { oddities: 40, failures: 0 },
  },
  {
    name: 'a run that waits is not woken',
    file: 'turn/due.ts',
    find: 'waiting.size === 0 && sleeping.size === 0 && calling.size === 0;',
    replace: 'waiting.size === 0 && calling.size === 0;',
    caughtBy: ['projection', 'not-stuck'],
  },
  {
    name: 'an attempt that is lost repeatedly is started again without end',
    file: 'core/attempts.ts',
    find: 'deathsDuring(step, command.leader) >= MAX_LOST_ATTEMPTS',
    replace: 'deathsDuring(step, command.leader) >= 1_000',
    caughtBy: ['attempts'],
  },
  {
    name: 'the end of a dependency counts twice',
    file: 'core/evolve.ts',
    find: 'next.open -= 1;',
    replace: 'next.open -= 2;',
    caughtBy: ['effects', 'order', 'skips', 'not-stuck'],
  },
  {
    name: 'both branches of a condition run',
    file: 'core/skips.ts',
    find: 'return other.has(dependent) && !taken.has(dependent);',
    replace: 'return other.size > 1_000 && !taken.has(dependent);',
    caughtBy: ['skips', 'not-stuck'],
  },
  {
    name: 'a branch that is not taken skips a step that another edge leads to',
    file: 'core/skips.ts',
    find: '(isLeftOut && !branchesDecideEdges(state))',
    replace: 'isLeftOut',
    caughtBy: ['skips', 'not-stuck'],
  },
  {
    name: 'a step that both branches name runs only in the one that is not taken',
    file: 'core/skips.ts',
    find: 'other.has(dependent) && !taken.has(dependent)',
    replace: 'other.has(dependent)',
    caughtBy: ['skips', 'not-stuck'],
  },
  {
    name: 'an edge from a step that a branch left out is taken',
    file: 'core/skips.ts',
    find: "else if (end.skipReason !== 'branch_not_taken') isTaken = true;",
    replace: 'else isTaken = true;',
    caughtBy: ['skips', 'not-stuck'],
  },
  {
    name: 'a start does not record that branches decide edges',
    file: 'core/decide.ts',
    find: "data: { ...data, branch_rule: 'edges' }",
    replace: 'data',
    caughtBy: ['durability', 'skips'],
  },
  {
    name: 'a disabled step runs',
    file: 'core/skips.ts',
    find: "return step.spec.disabled === true ? 'step_disabled' : 'ready';",
    replace: "return 'ready';",
    caughtBy: ['skips', 'not-stuck'],
  },
  {
    name: 'a paused run starts steps',
    file: 'core/effects.ts',
    find: "const advancing = state.status === 'running' && state.stopRequested === null;",
    replace: 'const advancing = state.stopRequested === null;',
    caughtBy: ['effects', 'order'],
  },
  {
    name: 'an attempt that will be retried costs nothing',
    file: 'core/metering.ts',
    find: "case 'step_retrying':\n      return true;",
    replace: "case 'step_retrying':\n      return false;",
    caughtBy: ['usage'],
  },
  {
    name: 'lost attempts are charged',
    file: 'core/metering.ts',
    find: 'return event.data.error.code !== LOST_REPEATEDLY &&',
    replace: 'return',
    caughtBy: ['usage'],
  },
];

const GROUPS: readonly (readonly Mutation[])[] = [
  CORE,
  LOG_AND_RUNTIME,
  CREDITS,
  SLOTS,
  SHARES,
  LEADING,
  HAND_OVERS,
  INPUTS,
  MEMORY,
  GROWTH,
  CALLS,
  AGENTS,
  IN_DOUBT,
  SKIPS,
  BURSTS,
];

/**
 * All the ways in which the tests break the engine: the simulation is worth only as much as the defects that it finds.
 */
export const MUTATIONS: readonly Mutation[] = GROUPS.flat();

/** The sample of every test run: the first mutation of each group, and the first that names each checker. */
export const SAMPLED_MUTATIONS: readonly Mutation[] = sample();

function sample(): Mutation[] {
  const named = new Set<string>();
  return MUTATIONS.filter(mutation => {
    const isFirst = GROUPS.some(group => group[0] === mutation) || mutation.caughtBy.some(name => !named.has(name));
    if (isFirst) for (const name of mutation.caughtBy) named.add(name);
    return isFirst;
  });
}
