import { z } from 'zod';
import { Rendering } from '../../languages/rendering.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { fieldReader, InvalidStep, unavailableMessage } from '../common-fields.ts';
import { failed, outcomeOf } from '../failure.ts';
import { consumedTokens } from '../llm-call/llm-call.ts';
import { stepsInTemplates } from '../reads.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
import type { ExtractionAnswer, MemoryExtractor } from './memory-extractor.ts';

const unavailable = unavailableMessage('memory_extract', 'this server has no memory');

const fields = z.strictObject({
  model: z.string().min(1).max(200).meta({ description: 'provider/model; may be a template' }),
  part: z.string().max(200).meta({ description: 'A template that gives the number of the part' }),
});
const read = fieldReader(fields);

/**
 * `memory_extract`: proposes memory items from a part of an episode. Only the workflow of extractions has this type.
 */
export function memoryExtract(extractor: MemoryExtractor | undefined): StepType {
  return {
    type: 'memory_extract',
    ...description,
    ...facts,
    fields,
    available: extractor ? true : { message: unavailable },
    internal: true,
    external: true,
    io: true,
    dataFields: [],
    rawFields: [],
    reads: stepsInTemplates,
    check: async ({ model }, scope) =>
      typeof model === 'string' && extractor ? extractor.check(scope, { model }) : [],
    async execute(attempt, signal) {
      if (!extractor) return failed('step_type_unavailable', unavailable);
      try {
        return outcome(await extractor.extract(callOf(attempt), { signal, log: lines => attempt.log(lines) }));
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

function callOf(attempt: Attempt) {
  const { run, step, traceparent } = attempt;
  const rendering = new Rendering(attempt);
  const { model, part } = read(step);
  const number = Number(rendering.text('part', part));
  if (!Number.isSafeInteger(number)) throw new InvalidStep('part: is not the number of a part');
  const name = rendering.text('model', model);
  return { run, part: number, model: name, idempotencyKey: `${run.id}:${step.id}`, traceparent };
}

function outcome(answer: ExtractionAnswer): Outcome {
  const used = consumedTokens(answer.usage);
  const consumed = used.length > 0 ? { consumed: used } : {};
  if (answer.kind === 'extracted') return { kind: 'completed', result: answer.result, ...consumed };
  const { code, message, retryable, retryAfterMs } = answer;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: 'failed', error: { code, message }, retryable, ...wait, ...consumed };
}
