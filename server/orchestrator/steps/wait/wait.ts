import { z } from 'zod';
import { type GraphStep, MAX_WAIT_S } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { Attempt, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { fieldReader, InvalidStep } from '../common-fields.ts';
import { failed, outcomeOf } from '../failure.ts';
import { stepsInTemplates } from '../reads.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';

const seconds = z.number().min(0).max(MAX_WAIT_S);
/** An instant must have an offset: no result may depend on the server's time zone. */
const instant = z.iso.datetime({ offset: true });
const MAX_FIELD_LENGTH = 1_000;

const fields = z.strictObject({
  seconds: z
    .union([seconds, z.string().max(MAX_FIELD_LENGTH)])
    .optional()
    .meta({ description: `0 to ${MAX_WAIT_S} (366 days), or a template that gives such a number` }),
  until: z
    .string()
    .max(MAX_FIELD_LENGTH)
    .optional()
    .meta({ description: 'Instead of seconds: an instant such as 2027-01-31T09:00:00Z; may be a template' }),
});
const read = fieldReader(fields);

function untilOf(attempt: Attempt): number {
  const { seconds: given, until } = read(attempt.step);
  if ((given === undefined) === (until === undefined)) throw new InvalidStep('the step: needs either seconds or until');
  const rendering = new Rendering(attempt);
  if (until !== undefined) return timeOf(rendering.text('until', until));
  const length = seconds.safeParse(rendering.value('seconds', given ?? 0));
  if (!length.success) throw new InvalidStep(`seconds: must be a number from 0 to ${MAX_WAIT_S}`);
  return attempt.now + Math.ceil(length.data * 1000);
}

function timeOf(text: string): number {
  if (!instant.safeParse(text).success)
    throw new InvalidStep(`until: "${text.slice(0, 100)}" is not an instant such as 2027-01-31T09:00:00Z`);
  return Date.parse(text);
}

function check({ seconds: given, until }: GraphStep): StepProblem[] {
  const problems: StepProblem[] = [];
  if ((given === undefined) === (until === undefined))
    problems.push({ path: 'seconds', code: 'wait_ambiguous', message: 'a wait needs either seconds or until' });
  if (typeof given === 'string' && !hasTemplate(given))
    problems.push({ path: 'seconds', code: 'invalid_field', message: 'must be a number or a template' });
  if (typeof until === 'string' && !hasTemplate(until) && !instant.safeParse(until).success) {
    const message = 'must be an instant such as 2027-01-31T09:00:00Z, with Z or an offset';
    problems.push({ path: 'until', code: 'until_invalid', message });
  }
  return problems;
}

/**
 * `wait` (docs/specification/steps.md#wait): the attempt only determines the end of the wait. The step then sleeps
 * without a slot and without memory.
 */
export const wait: StepType = {
  type: 'wait',
  ...description,
  ...facts,
  fields,
  available: true,
  dataFields: ['seconds', 'until'],
  rawFields: [],
  trial: { replacedBecause: () => 'waits', example: (_, { now }) => ({ waited_until: now }) },
  reads: stepsInTemplates,
  check,
  checkInGraph(step, graph) {
    if (step.timeout_s === undefined) return;
    graph.warn({ path: 'timeout_s', code: 'timeout_never', message: 'timeout_s has no effect on a wait' });
  },
  async execute(attempt): Promise<Outcome> {
    try {
      const until = untilOf(attempt);
      if (until - attempt.now > MAX_WAIT_S * 1000) return failed('wait_too_long', 'until is more than 366 days away');
      return { kind: 'sleeping', until };
    } catch (error) {
      return outcomeOf(error);
    }
  },
};
