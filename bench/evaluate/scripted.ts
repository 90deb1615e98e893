import type { About, Answer, Goal, World } from './goal.ts';

/** Replaces `{api}`, `{model}` and `{about}`, the workflow that the message is about. */
export function filled<T>(value: T, { api, model }: World, about: About | null): T {
  const text = JSON.stringify(value)
    .replaceAll('{api}', api)
    .replaceAll('{model}', model)
    .replaceAll('{about}', about?.workflow_id ?? '');
  return JSON.parse(text) as T;
}

/**
 * Returns the script's answers to a goal: the solution turn by turn, or with `wrong`, answers that do not reach the goal; and the answers
 * to the steps that ask a model.
 */
export function answersTo(goal: Goal, world: World, about: About | null, { wrong = false } = {}): Answer[] {
  const turns = wrong ? (goal.wrong ?? [[{ text: 'Done!' }]]) : goal.solution;
  const words = filled(goal.words, world, about);
  return [
    ...Object.entries(goal.asked ?? {}).map(([any, text]) => ({ match: { any }, content: [{ text }] })),
    ...filled(turns, world, about).map((content, turn) => ({ match: { any: words, turn }, content })),
  ];
}
