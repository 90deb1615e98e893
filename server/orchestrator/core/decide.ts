import {
  abandonAttempt,
  attemptExpanding,
  attemptFailed,
  attemptSucceeded,
  attemptWaiting,
  logAttempt,
  startAttempt,
} from './attempts.ts';
import { attemptCalling, callTimedOut, childEnded, childStarted } from './calls.ts';
import { type Command, CommandRefused } from './commands.ts';
import { pause, resume, stop } from './control.ts';
import { cascade, newDraft, skipIfDue } from './draft.ts';
import { settle } from './ending.ts';
import type { RunEvent, RunStartedData } from './events.ts';
import { evolve, newRun } from './evolve.ts';
import { quarantine } from './quarantine.ts';
import type { RunState } from './state.ts';
import { completeTask, expansionTimedOut, taskTimedOut } from './tasks.ts';
import { attemptSleeping, wake } from './waits.ts';

/**
 * Returns the events that a command causes (docs/specification/runs.md#states-and-transitions). The log writes all of
 * them or none. `now` is in ms since the epoch.
 *
 * Returns [] if the command changes nothing, or if an outcome arrives too late. Throws CommandRefused if a person's
 * command cannot be applied. Never changes the state. Takes time proportional to the changes, and to the graph at the
 * start and the end of a run.
 */
export function decide(state: RunState, command: Command, now: number): RunEvent[] {
  switch (command.type) {
    case 'start':
      return start(state, command.data, now);
    case 'pause':
      return pause(state, command, now);
    case 'resume':
      return resume(state, command, now);
    case 'stop':
      return stop(state, command, now);
    case 'complete_task':
      return completeTask(state, command, now);
    case 'start_attempt':
      return startAttempt(state, command, now);
    case 'attempt_succeeded':
      return attemptSucceeded(state, command, now);
    case 'attempt_expanding':
      return attemptExpanding(state, command, now);
    case 'attempt_calling':
      return attemptCalling(state, command, now);
    case 'child_started':
      return childStarted(state, command, now);
    case 'child_ended':
      return childEnded(state, command, now);
    case 'call_timed_out':
      return callTimedOut(state, command, now);
    case 'attempt_waiting':
      return attemptWaiting(state, command, now);
    case 'attempt_sleeping':
      return attemptSleeping(state, command, now);
    case 'attempt_failed':
      return attemptFailed(state, command, now);
    case 'attempt_log':
      return logAttempt(state, command, now);
    case 'abandon_attempt':
      return abandonAttempt(state, command, now);
    case 'quarantine':
      return quarantine(state, command, now);
    case 'task_timed_out':
      return taskTimedOut(state, command, now);
    case 'expansion_timed_out':
      return expansionTimedOut(state, command, now);
    case 'wake':
      return wake(state, command, now);
  }
}

function start(state: RunState, data: RunStartedData, now: number): RunEvent[] {
  if (state.status !== null) throw new CommandRefused('run_already_started', 'The run has already started.');
  const started: RunEvent = { at: now, type: 'run_started', data: { ...data, branch_rule: 'edges' } };
  // The skips depend on the overrides and the scope of the start, so they are decided on the state after it.
  const draft = newDraft(evolve(newRun(state.runId, state.graph), started), now);
  draft.events.push(started);
  const roots = state.graph.order.filter(id => state.graph.steps.get(id)?.dependencies.length === 0);
  settle(draft, () =>
    cascade(
      draft,
      roots.filter(root => skipIfDue(draft, root)),
    ),
  );
  return draft.events;
}
