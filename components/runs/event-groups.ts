import { isAgentStep, type RunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { formatDuration } from '../ui/time.tsx';
import { attemptsOf } from './outcome.ts';
import { stepNames } from './step-names.tsx';

/** A sentence about a run or one of its steps. `at`: ms since the epoch; null for a sentence without a time. */
export type Sentence = { at: number | null; text: string; failure: boolean };
/** Sentences about a step, or about the run itself (`step` null). */
export type EventGroup = { step: string | null; title: string; sentences: Sentence[] };

type Run = { started_at: string; started_by: string; trigger_type: string };

/**
 * Returns sentences about a run, grouped by step in the order of their starts; steps that have not started come last.
 * The sentences come from the state of the run, so that no events have to be read.
 */
export function groupsOf(run: Run, state: RunState, steps: readonly GraphStepInput[]): EventGroup[] {
  const called = stepNames(steps);
  const groups = [...state.steps.values()].flatMap(step => {
    const sentences = sentencesOf(step);
    const title = step.taskName || step.ofAgent?.tool || called(step.id);
    return sentences.length === 0 ? [] : [{ step: step.id, title, sentences }];
  });
  const startOf = ({ sentences }: EventGroup) => sentences[0]?.at ?? Number.POSITIVE_INFINITY;
  groups.sort((a, b) => (startOf(a) === startOf(b) ? 0 : startOf(a) - startOf(b)));
  const starter = `${run.started_by} (${run.trigger_type})`;
  const started = { at: Date.parse(run.started_at), text: `Started by ${starter}`, failure: false };
  return [{ step: null, title: 'Run', sentences: [started, ...endOf(state)] }, ...groups];
}

function endOf({ status, endedAt, error, pauseReason, stopping }: RunState): Sentence[] {
  switch (status) {
    case 'completed':
      return [{ at: endedAt, text: 'Completed', failure: false }];
    case 'stopped':
      return [{ at: endedAt, text: 'Stopped', failure: false }];
    case 'failed':
      return [{ at: endedAt, text: `Failed: ${error?.message ?? 'no reason was recorded'}`, failure: true }];
    case 'paused':
      return [{ at: null, text: pauseReason ? `Paused: ${inWords(pauseReason)}` : 'Paused', failure: false }];
    default:
      return stopping ? [{ at: null, text: 'Stops once running steps have finished', failure: false }] : [];
  }
}

const inWords = (code: string): string => code.replaceAll('_', ' ').toLowerCase();

function sentencesOf(step: StepState): Sentence[] {
  if (step.attempts.length === 0) return withoutAttempts(step);
  const attempts = attemptsOf(step.attempts);
  return attempts.flatMap(({ attempt, startedAt, endedAt, outcome, error }, index) => {
    const isLast = index === attempts.length - 1;
    const start = attempts.length > 1 ? `Attempt ${attempt} started` : 'Started';
    const began: Sentence[] = [{ at: startedAt, text: start, failure: false }];
    if (isLast && step.status === 'waiting')
      return [...began, { at: null, text: 'Waiting for a person', failure: false }];
    if (isLast && step.status === 'sleeping')
      return [...began, { at: null, text: 'Waiting for a time', failure: false }];
    if (isLast && step.endedAt === null && (endedAt === null || outcome === 'completed'))
      return [...began, { at: null, text: progressText(step), failure: false }];
    const took = endedAt === null ? '' : ` after ${formatDuration(endedAt - startedAt)}`;
    const end = { at: endedAt, text: `${ending(outcome)}${took}${error ? `: ${error.message}` : ''}` };
    return [...began, { ...end, failure: outcome === 'failed' || outcome === 'lost' }];
  });
}

function ending(outcome: StepState['attempts'][number]['outcome']): string {
  switch (outcome) {
    case 'completed':
      return 'Succeeded';
    case 'failed':
      return 'Failed';
    case 'cancelled':
      return 'Was cancelled';
    case 'lost':
      return 'Was lost, because the process stopped,';
    case 'running':
    case 'waiting':
      return 'Ended';
  }
}

function progressText({ id, childRun }: StepState): string {
  if (childRun !== null) return 'Waiting for the run that it called';
  return isAgentStep(id) ? 'At work' : 'Running';
}

function withoutAttempts({ status, skipReason, reused, endedAt }: StepState): Sentence[] {
  if (status === 'skipped' && reused) return [{ at: endedAt, text: 'Its earlier result was reused', failure: false }];
  if (status === 'skipped' || status === 'cancelled') {
    const verb = status === 'skipped' ? 'Was skipped' : 'Was cancelled';
    return [{ at: endedAt, text: skipReason ? `${verb}: ${inWords(skipReason)}` : verb, failure: false }];
  }
  return [];
}

/** Returns the groups whose title or sentences contain a text; with `failuresOnly`, only groups with a failure. */
export function matchingGroups(
  groups: readonly EventGroup[],
  { q, failuresOnly, step }: { q: string; failuresOnly: boolean; step: string },
): EventGroup[] {
  const searched = q.toLowerCase();
  return groups.filter(
    group =>
      (step === '' || group.step === step) &&
      (!failuresOnly || group.sentences.some(({ failure }) => failure)) &&
      (searched === '' ||
        [group.title, group.step ?? '', ...group.sentences.map(({ text }) => text)].some(text =>
          text.toLowerCase().includes(searched),
        )),
  );
}
