import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { fieldReader } from '../common-fields.ts';
import { outcomeOf } from '../failure.ts';
import { description } from './description.ts';

const fields = z.strictObject({
  stands_for: z.string().max(200),
  /** The fields of the replaced step. Their templates are rendered, so that an unresolved template also fails here. */
  inputs: JsonObjectSchema,
  /** The result, which the step returns unchanged. */
  result: z.custom<JsonValue>(),
});
const read = fieldReader(fields);
const MAX_INPUT_BYTES = 4 * 1024 * 1024;
/** The maximum characters of the step's fields that the log shows. */
const MAX_SHOWN = 8_000;

/**
 * `stand_in`: replaces a step that would write, send or ask people in a trial of a workflow. It has no effects and
 * returns a predetermined result. Only trials have this type.
 */
export const standIn: StepType = {
  type: 'stand_in',
  ...description,
  fields,
  available: true,
  internal: true,
  defaultTimeoutS: null,
  retries: false,
  dataFields: [],
  rawFields: ['result'],
  check: () => [],
  execute: async attempt => {
    try {
      return standInFor(attempt);
    } catch (error) {
      return outcomeOf(error);
    }
  },
};

function standInFor(attempt: Attempt): Outcome {
  const { stands_for, inputs, result } = read(attempt.step);
  const given = new Rendering(attempt).value('inputs', inputs as JsonMap, MAX_INPUT_BYTES);
  const shown = JSON.stringify(given).slice(0, MAX_SHOWN).toWellFormed();
  // Shows a person exactly what the step would send.
  return {
    kind: 'completed',
    result,
    log: [`Simulated: this step stands in for ${stands_for}.`, `It would get: ${shown}`],
  };
}
