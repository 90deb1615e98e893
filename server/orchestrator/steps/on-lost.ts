import { z } from 'zod';
import { isObject } from '../../platform/json.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import type { Outcome } from '../ports/step-type.ts';
import { fenced, inline } from './quoted.ts';

const MAX_SHOWN = 16_000;

/**
 * The values of `on_lost`: how a step continues if the service stops during a call and it is unknown whether the call
 * was carried out.
 */
export const ON_LOST = ['retry', 'ask'] as const;

/** The field `on_lost` of a step. Since it decides whether a person is asked, no run may change it. */
export const onLostField = z.enum(ON_LOST).optional().meta({
  description:
    'If Baton stops during the call and cannot know whether it happened. retry (default): the call is made again. ask: a person decides in a task',
});

/**
 * A call that may have happened. `step`: the name for the task. `did`: what the call does, in the words of a sentence.
 * `given`: its data. `example`: an example of the result that a person may enter. `ofAgent`: an agent made the call.
 */
export type LostCall = { step: string; did: string; given: JsonValue; example: JsonMap; ofAgent?: true };

/** Asks a person how to continue after a call that may have happened (docs/specification/steps.md#on_lost). */
export function askAboutLost({ step, did, given, example, ofAgent }: LostCall): Outcome {
  const instructions = [
    `Baton stopped while it was ${did}, and cannot know whether that was carried out. It was given:`,
    fenced(JSON.stringify(given, null, 2).slice(0, MAX_SHOWN)),
    'Check there before you decide. Approve to choose what to do, or reject to skip it.',
  ].join('\n\n');
  return {
    kind: 'waiting',
    task: {
      name: `${step}: this may have happened`.slice(0, 500),
      instructions,
      // The person needs all of it for the decision.
      ...(ofAgent && { to_decide: instructions }),
      form: formOf(example),
      assignees: [],
      due_at: null,
      on_timeout: 'reject',
      in_doubt: true,
    },
  };
}

/** Formats the name of the called thing within a sentence. */
export const quoted = inline;

/** The possible decisions, with the words of the console. */
const DECISIONS = [
  { const: 'repeat', title: 'Repeat it' },
  { const: 'skip', title: 'Skip it: the run goes on without its result' },
  { const: 'result', title: 'It has happened, with the result below' },
];

function formOf(example: JsonMap): JsonMap {
  const properties: JsonMap = {
    // No default: a person must choose explicitly.
    decision: { type: 'string', title: 'What to do', oneOf: DECISIONS },
    result: { type: 'object', title: 'Result', description: 'Only if it happened', default: example },
  };
  return {
    type: 'object',
    properties,
    required: ['decision'],
    additionalProperties: false,
    if: { properties: { decision: { const: 'result' } }, required: ['decision'] },
    then: { required: ['result'] },
  };
}

/** The names of the decision in an answer. `choice` is that of tasks from older versions of the service. */
const NAMES = ['decision', 'choice'] as const;

/**
 * Returns the name of the decision in a form that asks about a call that may have happened; null for every other form.
 */
function decisionName({ properties }: JsonMap): (typeof NAMES)[number] | null {
  if (!isObject(properties)) return null;
  const asks = (field: unknown) => isObject(field) && JSON.stringify(field.oneOf) === JSON.stringify(DECISIONS);
  return NAMES.find(name => asks(properties[name])) ?? null;
}

type Answer = { approved: boolean; result: JsonMap | undefined };

/**
 * Returns an answer to a task about a lost call, with the decision under the name that the form uses, or the problems
 * of the answer. Returns an answer to any other task unchanged. An answer without a decision must not repeat a payment.
 */
export function decidedAnswer(
  form: JsonMap | null,
  { approved, result }: Answer,
): { result: JsonMap | undefined } | { problem: string; path: string } {
  const name = form === null ? null : decisionName(form);
  if (name === null) return { result };
  const given = NAMES.filter(each => result !== undefined && Object.hasOwn(result, each));
  const path = `result.${given[0] ?? 'decision'}`;
  if (given.length > 1)
    return { path: 'result.choice', problem: 'is the earlier name of `decision`: give one of them' };
  const decision = given[0] === undefined ? undefined : result?.[given[0]];
  if (approved && decision === undefined)
    return { path, problem: 'is missing: `repeat`, `skip` or `result` says what becomes of the call' };
  if (!approved && decision !== undefined && decision !== 'skip')
    return { path, problem: 'contradicts `approved`: what is not approved is skipped' };
  if (result === undefined || given[0] === undefined) return { result };
  const { [given[0]]: said = null, ...others } = result;
  return { result: { [name]: said, ...others } };
}
