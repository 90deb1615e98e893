import { z } from 'zod';
import type { Outcome } from '../../contract/step-type.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import { fenced, inline } from './quoted.ts';

const MAX_SHOWN = 16_000;

/** The ways to continue if the service stops during a call and it is unknown whether the call was carried out. */
export const ON_LOST = ['retry', 'ask'] as const;

/** The field by which a step says so. It decides whether a person is asked, so that no run may change it. */
export const onLostField = z.enum(ON_LOST).optional().meta({
  description:
    'If Baton ends during the call, so that nobody knows whether it happened. retry (default): it is made again. ask: a person decides in a task',
});

/**
 * `step`: what the task is named after. `did`: what was being done, in the words of a sentence, with what it was done with.
 * `example`: what the result looks like that a person may enter.
 */
export type LostCall = { step: string; did: string; given: JsonValue; example: JsonMap };

/** Has a person decide what becomes of a call that may have happened (docs/specification/steps.md#on_lost). */
export function askAboutLost({ step, did, given, example }: LostCall): Outcome {
  return {
    kind: 'waiting',
    task: {
      name: `${step}: this may have happened`.slice(0, 500),
      instructions: [
        `Baton ended while it was ${did}, and cannot know whether that was carried out. It was given:`,
        fenced(JSON.stringify(given, null, 2).slice(0, MAX_SHOWN)),
        'Look there before you decide. Approving without a choice repeats it, and rejecting skips it.',
      ].join('\n\n'),
      form: formOf(example),
      assignees: [],
      due_at: null,
      on_timeout: 'reject',
      in_doubt: true,
    },
  };
}

/** The name of what is called, within a sentence. */
export const quoted = inline;

function formOf(example: JsonMap): JsonMap {
  const properties: JsonMap = {
    choice: {
      type: 'string',
      title: 'What to do',
      oneOf: [
        { const: 'repeat', title: 'Repeat it' },
        { const: 'skip', title: 'Skip it: the run goes on without its result' },
        { const: 'result', title: 'It has happened, with the result below' },
      ],
      default: 'repeat',
    },
    result: { type: 'object', title: 'Result', description: 'Only where it has happened', default: example },
  };
  return {
    type: 'object',
    properties,
    if: { properties: { choice: { const: 'result' } }, required: ['choice'] },
    then: { required: ['result'] },
  };
}
