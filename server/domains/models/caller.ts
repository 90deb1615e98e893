import type { ModelAnswer, ModelCall, ModelCaller } from '../../orchestrator/steps/llm-call/model-caller.ts';
import { askModel, type ModelQuestion, type ModelReply } from '../../platform/models/ask-model.ts';
import { inSecretScope } from '../../platform/secrets/in-use.ts';
import type { Redactor } from '../../platform/secrets/redaction.ts';
import { callHeaders, ModelDirectory, type ModelServices, type OpenModel, objectOf } from './directory.ts';
import { estimatedUsage } from './estimated-usage.ts';
import { StreamedLines } from './streamed-lines.ts';

type On = { signal: AbortSignal; log: (lines: string[]) => void };

/** Creates the caller of models for `llm_call` steps; it uses only keys of the tenant's own connections. */
export function createModelCaller(services: ModelServices): ModelCaller {
  const models = new ModelDirectory(services);
  return {
    check: (scope, call) => models.check(scope, call),
    call: (call, on) =>
      inSecretScope(async () => {
        const model = await models.open(call, call.model);
        return 'kind' in model ? model : await callModel(services, model, call, on);
      }),
  };
}

function questionOf({ access }: OpenModel, call: ModelCall): ModelQuestion {
  const { prompt, system, temperature, maxTokens, responseSchema } = call;
  const object = responseSchema && objectOf(responseSchema);
  return { ...access, prompt, system, temperature, maxTokens, object, headers: callHeaders(call) };
}

async function callModel(
  { clock }: Pick<ModelServices, 'clock'>,
  model: OpenModel,
  call: ModelCall,
  on: On,
): Promise<ModelAnswer> {
  const { redactor, fetch } = model;
  const question = questionOf(model, call);
  const logLines = (lines: string[]) => on.log(lines.map(redactor.text));
  const lines = new StreamedLines(() => clock.now(), logLines);
  const onText = (piece: string) => lines.add(piece);
  const reply = await askModel(question, { fetch, clock, signal: on.signal, onText });
  const log = [...lines.rest(), ...remarks(reply)].map(redactor.text);
  return { ...answerOf(reply, question, redactor), ...(log.length > 0 ? { log } : {}) };
}

function remarks(reply: ModelReply): string[] {
  if (reply.kind === 'failed') return [];
  return [
    ...reply.warnings.map(warning => `Warning: ${warning}`),
    ...(reply.cut ? ['Warning: the answer was cut at the limit of tokens'] : []),
    ...(reply.usage === undefined
      ? ['Warning: the provider did not tell how many tokens it used: they are estimated']
      : []),
  ];
}

/** Returns the number of characters of a question. */
function sentIn({ prompt, system = '', object }: ModelQuestion): number {
  return prompt.length + system.length + (object === undefined ? 0 : JSON.stringify(object.schema).length);
}

function answerOf(reply: ModelReply, question: ModelQuestion, redactor: Redactor): ModelAnswer {
  const { written, usage = estimatedUsage(sentIn(question), written) } = reply;
  if (reply.kind === 'failed') {
    const { code, message, retryable, retryAfterMs } = reply;
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const used = reply.usage === undefined && written === 0 ? {} : { usage };
    return { kind: 'failed', code, message: redactor.text(message), retryable, ...wait, ...used };
  }
  return {
    kind: 'answer',
    text: redactor.text(reply.text),
    ...(reply.object === undefined ? {} : { object: redactor.json(reply.object) }),
    ...(reply.reasoning === undefined ? {} : { reasoning: redactor.text(reply.reasoning) }),
    model: `${question.provider}/${reply.model}`,
    finishReason: reply.cut ? 'length' : 'stop',
    usage,
  };
}
