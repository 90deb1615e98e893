import { effects, type RunState } from '../../core/index.ts';
import type { History } from '../history.ts';
import { callDeadline, hasReturned } from './calls.ts';
import { deadlineOf, isGathered } from './growth.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('effects', message);

/** Checks that the core's effects agree with the log: nothing is missing, and nothing appears twice. */
export function checkEffects(history: History, state: RunState): void {
  const { ready, inFlight, timers } = effects(state);
  const steps = [...history.steps].filter(([, step]) => step.end === null);
  const advancing = history.status === 'running' && !history.stopping;
  const mayStart = ([id, step]: (typeof steps)[number]) =>
    isGathered(history, id) ||
    hasReturned(history, id) ||
    step.isToRepeat ||
    (step.attempt === 0 && step.dependencies.every(dependency => history.step(dependency).end !== null));
  requireSame('ready', [...ready], advancing ? steps.filter(mayStart).map(([id]) => id) : []);
  const flying = steps.filter(([, step]) => step.inFlight).map(([id, step]) => `${id}#${step.attempt}`);
  requireSame(
    'in flight',
    Array.from(inFlight, ({ step, attempt }) => `${step}#${attempt}`),
    history.isTerminal ? [] : flying,
  );
  const due = steps.flatMap(([id, step]) => {
    const at =
      step.retryAt ??
      step.waitsUntil ??
      deadlineOf(history, id) ??
      callDeadline(history, id) ??
      (step.attempt > 0 && !step.inFlight ? step.asked?.dueAt : null) ??
      null;
    return at === null ? [] : [`${id}@${at}`];
  });
  requireSame(
    'timers',
    Array.from(timers, ({ step, dueAt }) => `${step}@${dueAt}`),
    advancing ? due : [],
  );
}

function requireSame(what: string, seen: string[], expected: string[]): void {
  if (seen.sort().join() !== expected.sort().join()) throw fail(`${what} is [${seen}], but should be [${expected}]`);
}
