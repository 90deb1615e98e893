import { charactersOf } from '../../orchestrator/steps/agent/conversation.ts';
import type { TurnAnswer, TurnCaller, TurnRequest, TurnUsage } from '../../orchestrator/steps/agent/turn-caller.ts';
import type { TokenCounts } from '../../platform/models/read-stream.ts';
import { askTurn, type TurnQuestion, type TurnReply } from '../../platform/models/turn.ts';
import { inSecretScope } from '../../platform/secrets/in-use.ts';
import { callHeaders, ModelDirectory, type ModelServices, type OpenModel, objectOf } from './directory.ts';
import { estimatedUsage } from './estimated-usage.ts';

/** Creates the caller of models for agents' turns; it uses only keys of the tenant's own connections. */
export function createTurnCaller(services: ModelServices): TurnCaller {
  const models = new ModelDirectory(services);
  return {
    check: (scope, request) => models.check(scope, request),
    contextWindow: (scope, model) => models.contextWindow(scope, model),
    mostOutput: model => models.mostOutput(model),
    turn: (request, { signal, onPart = () => undefined }) =>
      inSecretScope(async () => {
        const model = await models.open(request, request.model);
        if ('kind' in model) return model;
        const { redactor, fetch } = model;
        const on = { fetch, clock: services.clock, signal, redactor, onPiece: onPart };
        return answerOf(await askTurn(questionOf(model, request), on), model, request);
      }),
  };
}

function questionOf({ access }: OpenModel, request: TurnRequest): TurnQuestion {
  const { messages, tools, toolChoice, temperature, maxTokens, responseSchema } = request;
  const object = responseSchema && objectOf(responseSchema);
  return { ...access, messages, tools, toolChoice, temperature, maxTokens, object, headers: callHeaders(request) };
}

function answerOf(reply: TurnReply, { access, redactor }: OpenModel, request: TurnRequest): TurnAnswer {
  const { usage, written, ...rest } = reply;
  const used = usage === undefined ? estimatedUsage(charactersSent(request), written) : usageOf(usage);
  // A provider that refused the request immediately has counted nothing.
  if (rest.kind === 'failed') return { ...rest, ...(usage === undefined && written === 0 ? {} : { usage: used }) };
  const { content, object, model, finish, warnings } = rest;
  const estimateWarnings =
    usage === undefined ? ['the provider did not tell how many tokens it used: they are estimated'] : [];
  return {
    kind: 'answer',
    content,
    ...(object === undefined ? {} : { object: redactor.json(object) }),
    finishReason: finish,
    model: redactor.text(`${access.provider}/${model}`),
    usage: used,
    warnings: [...warnings, ...estimateWarnings].map(redactor.text),
  };
}

/** Returns the number of characters of a request. */
function charactersSent({ messages, tools, responseSchema }: TurnRequest): number {
  const described = [...tools, ...(responseSchema === undefined ? [] : [responseSchema])];
  return charactersOf(messages) + (described.length === 0 ? 0 : JSON.stringify(described).length);
}

function usageOf({ input, output, cachedInput, reasoning }: TokenCounts): TurnUsage {
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cachedInput > 0 ? { cachedInputTokens: cachedInput } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  };
}
