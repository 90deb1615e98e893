import { timeOfAgentIsUp } from './agent-growth.ts';
import { type Command, CommandRefused } from './commands.ts';
import { refuseUnlessActive } from './control.ts';
import { emit, newDraft } from './draft.ts';
import { endAdded, endStep, stepFails } from './ending.ts';
import type { JsonMap, RunEvent } from './events.ts';
import { isAgent } from './growth.ts';
import { decisionOf, endDecided } from './in-doubt.ts';
import { takenBranch } from './skips.ts';
import { effectiveStep, type RunState } from './state.ts';

type Of<T extends Command['type']> = Extract<Command, { type: T }>;
type Answer = { approved: boolean; result: JsonMap; completedBy: string | null; credits?: number | undefined };

/** Records a person's answer to a human task; also while the run is paused (its dependents wait for the resume). */
export function completeTask(state: RunState, command: Of<'complete_task'>, now: number): RunEvent[] {
  refuseUnlessActive(state);
  const step = state.steps.get(command.step);
  // A step that is repeated after a person's decision may be in doubt again, and ask again.
  if (step?.status !== 'waiting') {
    if (step?.answered || state.grown?.answered.has(command.step))
      throw new CommandRefused('task_already_completed', 'The task has already been completed.');
    throw new CommandRefused('task_not_pending', 'The task is not pending.');
  }
  const { approved, result, by, credits } = command;
  return answer(state, command.step, { approved, result, completedBy: by, credits }, now);
}

/** Handles the timeout of a human task. Timeouts wait while the run is paused. */
export function taskTimedOut(state: RunState, command: Of<'task_timed_out'>, now: number): RunEvent[] {
  const { credits } = command;
  const task = state.steps.get(command.step)?.task;
  if (state.status !== 'running' || task === undefined || task.dueAt === null || now < task.dueAt) return [];
  switch (task.onTimeout) {
    case 'fail': {
      const draft = newDraft(state, now);
      const error = { code: 'task_timed_out', message: 'Nobody completed the task in time.' };
      stepFails(draft, command.step, error, { ...(credits && { credits }) });
      return draft.events;
    }
    case 'approve':
    case 'reject':
      return answer(
        state,
        command.step,
        { approved: task.onTimeout === 'approve', result: {}, completedBy: null, credits },
        now,
      );
  }
}

/** Fails an expanded step that has timed out, and ends the steps that it added. */
export function expansionTimedOut(state: RunState, command: Of<'expansion_timed_out'>, now: number): RunEvent[] {
  const { step, credits } = command;
  const expansion = state.grown?.parents.get(step);
  const deadline = expansion?.deadline ?? null;
  const isExpanded = state.steps.get(step)?.status === 'expanded';
  if (state.status !== 'running' || state.stopRequested !== null || !isExpanded) return [];
  if (deadline === null || now < deadline) return [];
  const draft = newDraft(state, now);
  if (expansion !== undefined && isAgent(expansion) && timeOfAgentIsUp(draft, step, expansion)) return draft.events;
  endAdded(draft, step, { cancel: 'step_failed', causedBy: step, skip: 'blocked' });
  const error = { code: 'step_timed_out', message: 'The steps under this one did not all end in time.' };
  stepFails(draft, step, error, { ...(credits && { credits }) });
  return draft.events;
}

function answer(state: RunState, step: string, given: Answer, now: number): RunEvent[] {
  const { approved, result, completedBy, credits } = given;
  const draft = newDraft(state, now);
  const attempt = state.steps.get(step)?.attempt ?? 0;
  const timedOut = completedBy === null ? { timed_out: true as const } : {};
  if (state.steps.get(step)?.task?.inDoubt) {
    const decision = decisionOf(given);
    const decided = { approved: decision !== 'skip', completed_by: completedBy, ...timedOut, decision };
    emit(draft, { type: 'task_completed', step, attempt, data: decided });
    endDecided(draft, step, decision, given, { ...(credits && { credits }) });
    return draft.events;
  }
  const data = { approved, completed_by: completedBy, ...timedOut };
  emit(draft, { type: 'task_completed', step, attempt, data });
  // The service's own fields come last, so that a form cannot forge who approved.
  const completedAt = new Date(now).toISOString();
  const full = { ...result, approved, completed_by: completedBy, completed_at: completedAt };
  emit(draft, { type: 'step_completed', step, attempt, data: { result: full, ...(credits && { credits }) } });
  const branch = takenBranch(effectiveStep(state, step), full);
  endStep(draft, step, { status: 'completed', branch, ...(approved && { approved }) });
  return draft.events;
}
