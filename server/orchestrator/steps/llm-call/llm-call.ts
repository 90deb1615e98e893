import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { GraphStep, JsonMap, StepError } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { collectReferences, hasTemplate } from '../../languages/templates.ts';
import type { Attempt, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { DEFAULT_CONTEXT_WINDOW, TOKENS_PER_CHARACTER } from '../agent/conversation.ts';
import { fieldReader, InvalidStep, MAX_TEXT_LENGTH, unavailableMessage } from '../common-fields.ts';
import { failed, outcomeOf } from '../failure.ts';
import { checkForm } from '../form.ts';
import { stepsInTemplates } from '../reads.ts';
import { reserveTokens } from '../reserve-tokens.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
import type { ModelAnswer, ModelCall, ModelCaller, TokenUsage } from './model-caller.ts';

const unavailable = unavailableMessage('llm_call', 'this server has no model providers configured');
/**
 * The limit for prompt and system each, once rendered: templates may insert more text than a step can contain, but no
 * model reads more.
 */
const MAX_PROMPT_BYTES = 4 * 1024 * 1024;

const fields = z.strictObject({
  model: z.string().min(1).max(200).meta({ description: 'provider/model, such as openai/gpt-5' }),
  prompt: z.string().min(1).max(MAX_TEXT_LENGTH).meta({ description: 'May contain templates' }),
  system: z.string().max(MAX_TEXT_LENGTH).optional().meta({ description: 'Instructions; may contain templates' }),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.number().int().min(1).max(1_000_000).optional().meta({ description: 'Of the answer' }),
  response_schema: JsonObjectSchema.optional().meta({
    description:
      'JSON Schema (2020-12) of an object: the answer is checked against it and becomes `object` of the result',
  }),
});
/** A call is not made if its answer could have fewer tokens than this. */
const MIN_ANSWER_TOKENS = 16;
const read = fieldReader(fields);

/**
 * `llm_call`: calls a language model (docs/specification/steps.md#llm_call). Without a caller, as in a simulation, only
 * drafts may contain the type.
 */
export function llmCall(models: ModelCaller | undefined): StepType {
  return {
    type: 'llm_call',
    ...description,
    ...facts,
    fields,
    available: models ? true : { message: unavailable },
    external: true,
    reserves: true,
    io: true,
    dataFields: ['model', 'prompt', 'system', 'temperature', 'max_tokens', 'response_schema'],
    filledFields: ['prompt'],
    rawFields: [],
    trial: { replacedBecause: () => null, staysInside: true },
    reads: stepsInTemplates,
    check: async (step, scope) => [
      ...checkSchema(step),
      ...(await checkModel(step, model => models?.check(scope, { model }))),
    ],
    async execute(attempt, signal) {
      if (!models) return failed('step_type_unavailable', unavailable);
      try {
        const call = callOf(attempt);
        const maxTokens = await reserved(attempt, call);
        if (typeof maxTokens === 'object') return { kind: 'failed', error: maxTokens, retryable: false };
        return outcome(await models.call({ ...call, maxTokens }, { signal, log: lines => attempt.log(lines) }));
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

/** A schema with templates can only be checked once rendered. */
function checkSchema(step: GraphStep): StepProblem[] {
  const parsed = fields.shape.response_schema.safeParse(step.response_schema);
  const schema = parsed.success ? parsed.data : undefined;
  return schema && collectReferences(schema).length === 0 ? checkForm(schema, 'response_schema') : [];
}

async function checkModel(
  { model }: GraphStep,
  check: (model: string) => Promise<StepProblem[]> | undefined,
): Promise<StepProblem[]> {
  if (typeof model !== 'string' || model === '' || hasTemplate(model)) return [];
  return (await check(model)) ?? [];
}

function callOf(attempt: Attempt): ModelCall {
  const { run, step, traceparent } = attempt;
  const { model, prompt, system, temperature, max_tokens, response_schema } = read(step);
  const rendering = new Rendering(attempt);
  const text = rendering.text('prompt', prompt, MAX_PROMPT_BYTES);
  if (text.trim() === '') throw new InvalidStep('prompt: is empty once rendered');
  return {
    tenantId: run.tenantId,
    projectId: run.projectId,
    model: rendering.text('model', model),
    prompt: text,
    system: system === undefined ? undefined : rendering.text('system', system, MAX_PROMPT_BYTES),
    temperature,
    maxTokens: max_tokens,
    responseSchema: response_schema && schemaOf(response_schema, rendering),
    idempotencyKey: `${run.id}:${step.id}`,
    traceparent,
  };
}

/** Reserves the possible cost of the call. Returns the maximum length of its answer, or why the call is not made. */
async function reserved(
  attempt: Attempt,
  { prompt, system = '', responseSchema, maxTokens }: ModelCall,
): Promise<number | undefined | StepError> {
  const schema = responseSchema === undefined ? '' : JSON.stringify(responseSchema);
  const input = Math.ceil((prompt.length + system.length + schema.length) * TOKENS_PER_CHARACTER);
  const most = maxTokens ?? DEFAULT_CONTEXT_WINDOW;
  const wanted = { input, window: DEFAULT_CONTEXT_WINDOW, least: Math.min(most, MIN_ANSWER_TOKENS), most };
  const tokens = await reserveTokens(attempt, wanted);
  if (tokens.kind === 'refused') return tokens.error;
  return tokens.output < most ? tokens.output : maxTokens;
}

function schemaOf(schema: JsonMap, rendering: Rendering): JsonMap {
  const rendered = rendering.value('response_schema', schema) as JsonMap;
  const [problem] = checkForm(rendered, 'response_schema');
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  return rendered;
}

function outcome(answer: ModelAnswer): Outcome {
  const used = consumedTokens(answer.usage);
  const more = { ...(answer.log?.length ? { log: answer.log } : {}), ...(used.length > 0 ? { consumed: used } : {}) };
  if (answer.kind === 'failed') {
    const { code, message, retryable, retryAfterMs } = answer;
    return {
      kind: 'failed',
      error: { code, message },
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...more,
    };
  }
  const { text, object, reasoning, model, finishReason, usage } = answer;
  return {
    kind: 'completed',
    result: {
      text,
      ...(object === undefined ? {} : { object }),
      ...(reasoning === undefined ? {} : { reasoning }),
      model,
      finish_reason: finishReason,
      usage: {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        ...(usage.estimated && { estimated: usage.estimated }),
      },
    },
    ...more,
  };
}

type Consumed = NonNullable<Extract<Outcome, { kind: 'completed' }>['consumed']>;

/** Returns the tokens for which an attempt is charged. */
export function consumedTokens(usage: TokenUsage | undefined): Consumed {
  const all: Consumed = [
    { action: 'llm_input_tokens', quantity: usage?.inputTokens ?? 0 },
    { action: 'llm_output_tokens', quantity: usage?.outputTokens ?? 0 },
  ];
  return all.filter(({ quantity }) => quantity > 0);
}
