import { z } from 'zod';
import type { AgentPlan, AgentProgress, GraphStep, JsonMap, JsonValue } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { collectReferences, hasTemplate } from '../../languages/templates.ts';
import { CREDIT } from '../../ports/microcredits.ts';
import type { Attempt, CheckScope, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { fieldReader, InvalidStep, unavailableMessage } from '../common-fields.ts';
import { exampleValue } from '../example-value.ts';
import { failed, outcomeOf } from '../failure.ts';
import { checkForm } from '../form.ts';
import { outsideOf, privateOf } from '../outside.ts';
import { stepsInTemplates } from '../reads.ts';
import {
  COMPACT_AT,
  charactersOf,
  charactersOfTools,
  conversationOf,
  DEFAULT_CONTEXT_WINDOW,
  ratioOf,
} from './conversation.ts';
import { type Conversations, NO_EARLIER_MESSAGES } from './conversations.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
import { limitsOf, mayNotBegin } from './lineage.ts';
import { countOf, outsideOfMemories, recallFor, withMemories } from './memory.ts';
import type { MemoryRecaller } from './memory-recaller.ts';
import { type MemoryTools, memoryToolsOf } from './memory-tools.ts';
import { checkSource, namedAgent } from './named.ts';
import { outsideOfAnswer, outsideOfEarlier } from './outside-conversation.ts';
import { type AgentWork, type PlannedTool, workOf } from './plan.ts';
import type { PlatformTools } from './platform-tools.ts';
import { privateOfEarlier, privateOfMemories } from './private-conversation.ts';
import { reaches } from './reach.ts';
import type { RunAuthority } from './run-authority.ts';
import type { RunTools } from './run-tools.ts';
import { agentFields, closingSeconds, DEFAULT_AGENT_LIMITS } from './settings.ts';
import type { AgentSource } from './source.ts';
import { type ApprovalSettings, plannedTools, type ToolsEntry, warnOfContradictions } from './tool-plan.ts';
import type { AgentTools } from './tools.ts';
import type { TurnCaller } from './turn-caller.ts';
import type { TurnMessage } from './turn-messages.ts';
import { turnResultOf } from './turn-result.ts';

const MAX_PROMPT_BYTES = 1024 * 1024;

const fields = z.strictObject({
  ...agentFields,
  model: agentFields.model
    .optional()
    .meta({ description: 'provider/model, such as openai/gpt-5; needed without agent_id' }),
  agent_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'An agent of the project, in place of every other field but prompt and limits' }),
  prompt: z.string().min(1).meta({ description: 'What the agent is to do this time; may contain templates' }),
});
const read = fieldReader(fields);
type Fields = z.output<typeof fields>;
const unavailable = unavailableMessage('agent', 'this server has no models configured');

const exampleAnswer = ({ response_schema }: GraphStep): JsonValue => ({
  text: 'example',
  object: exampleValue(response_schema),
  ended_by: 'answered',
  complete: true,
});

/** The ports that agents need. */
export type AgentServices = {
  turns?: TurnCaller | undefined;
  agentTools?: AgentTools | undefined;
  platform?: PlatformTools | undefined;
  authority?: RunAuthority | undefined;
  approvals?: ApprovalSettings | undefined;
  agents?: AgentSource | undefined;
  conversations?: Conversations | undefined;
  recaller?: MemoryRecaller | undefined;
  memoryTools?: MemoryTools | undefined;
  runTools?: RunTools | undefined;
};

/**
 * `agent` (docs/specification/steps.md#agent): the first attempt resolves the settings, messages and tools. Turns and calls are then added to
 * the run, and a second attempt returns the answer.
 */
export function agent(services: AgentServices): StepType {
  const { turns } = services;
  return {
    type: 'agent',
    ...description,
    ...facts,
    fields,
    available: turns ? true : { message: unavailable },
    external: true,
    io: true,
    dataFields: ['model', 'instructions', 'prompt', 'temperature', 'max_tokens', 'response_schema'],
    filledFields: ['prompt'],
    // These fields decide what needs an approval, and what may be spent.
    approvalFields: ['agent_id', 'tools', 'limits', 'on_limit', 'timeout_s'],
    rawFields: [],
    trial: { replacedBecause: () => 'writes', reaches, example: exampleAnswer },
    reads: stepsInTemplates,
    check: (step, scope) => check(step, scope, services),
    checkInGraph: (step, graph) => warnOfContradictions(fields.shape.tools.safeParse(step.tools).data ?? [], graph),
    async execute(attempt, signal) {
      if (!turns) return failed('step_type_unavailable', unavailable);
      try {
        const { agent: progress } = attempt;
        if (progress != null) return { kind: 'completed', result: agentResult(attempt, progress) };
        return await beginAgent(attempt, signal, services);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function check(step: GraphStep, scope: CheckScope, services: AgentServices): Promise<StepProblem[]> {
  const { turns } = services;
  const problems = await checkSource(step, scope, services);
  const { model, tools, response_schema } = fields.partial().loose().safeParse(step).data ?? {};
  if (response_schema !== undefined && collectReferences(response_schema).length === 0)
    problems.push(...checkForm(response_schema as JsonMap, 'response_schema'));
  if (model !== undefined && !hasTemplate(model)) problems.push(...((await turns?.check(scope, { model })) ?? []));
  for (const [index, entry] of (tools ?? []).entries()) {
    const found = await problemsOf(entry, scope, services);
    for (const problem of found ?? []) problems.push({ ...problem, path: `tools[${index}].${problem.path}` });
  }
  return problems;
}

async function problemsOf(
  entry: ToolsEntry,
  scope: CheckScope,
  { agentTools, platform, memoryTools, runTools }: AgentServices,
): Promise<StepProblem[] | undefined> {
  switch (entry.type) {
    case 'mcp':
      return agentTools?.check(scope, { instanceId: entry.instance_id, tools: entry.tools });
    case 'workflow':
      return runTools?.check(scope, { kind: 'workflow', ids: entry.workflow_ids });
    case 'agent':
      return runTools?.check(scope, { kind: 'agent', ids: [entry.agent_id] });
    case 'platform':
      return unknownOperations(entry.operations, platform);
    case 'ask_user':
      return [];
    case 'memory':
      return memoryTools === undefined ? [NO_MEMORY] : [];
  }
}

function unknownOperations(names: readonly string[], platform: PlatformTools | undefined): StepProblem[] {
  const unknown = new Set(platform?.unknown(names));
  return names.flatMap((name, index) =>
    unknown.has(name)
      ? [
          {
            path: `operations[${index}]`,
            code: 'unknown_operation',
            message: 'is not an operation that agents may have',
          },
        ]
      : [],
  );
}

const NO_MEMORY = { path: 'type', code: 'memory_not_configured', message: 'this deployment has no memory' };

async function beginAgent(attempt: Attempt, signal: AbortSignal, services: AgentServices): Promise<Outcome> {
  const { agents, conversations, recaller } = services;
  const inline = read(attempt.step);
  // The prompt is rendered before the first await, because large results are released then. Instructions of a named agent read only the input.
  const prompt = renderPrompt(attempt, inline);
  const promptSources = outsideOf(inline.prompt, attempt);
  const named = inline.agent_id === undefined ? null : await namedAgent(attempt, signal, { step: inline, agents });
  if (named !== null && 'kind' in named) return named;
  const refused = mayNotBegin(attempt, inline.agent_id);
  if (refused !== null) return refused;
  const own = named ?? inline;
  const given = { ...own, limits: limitsOf(attempt, own.limits) };
  const { messages, ...rendered } = render(attempt, given, prompt);
  const { instructions = null, response_schema = null } = given;
  const instructionSources = outsideOf([instructions, response_schema as JsonMap | null], attempt);
  const rendering = [inline.prompt, instructions, response_schema as JsonMap | null];
  const hidden = privateOf(rendering, attempt).map(place => ({ place }));
  const earlier = (await conversations?.before(attempt.run, signal)) ?? NO_EARLIER_MESSAGES;
  const memoryAccess = memoryToolsOf(given, inline.agent_id);
  const tools = await plannedTools(attempt, signal, { entries: given.tools ?? [], own: memoryAccess.tools, services });
  if (!Array.isArray(tools)) return tools;
  const { temperature, max_tokens, memory } = given;
  const context_window = await windowOf(attempt, rendered.model, given.limits?.context_tokens, services);
  const asked = { memory, agentId: inline.agent_id, query: prompt };
  const recalled = await recallFor(attempt, asked, { recaller, signal });
  const outside = new Set([
    ...promptSources,
    ...instructionSources,
    ...outsideOfMemories(recalled),
    ...outsideOfEarlier(tools, earlier),
  ]);
  hidden.push(...privateOfMemories(recalled), ...privateOfEarlier(tools, earlier));
  const work = {
    ...(named !== null && { agent_id: named.agent_id }),
    ...rendered,
    messages: withMemories([...messages.slice(0, -1), ...earlier.messages, ...messages.slice(-1)], recalled),
    tools,
    ...(outside.size > 0 && { outside: [...outside] }),
    ...(hidden.length > 0 && { private: hidden }),
    ...(memoryAccess.access && { memory: memoryAccess.access }),
    context_window,
    ...(temperature !== undefined && { temperature }),
    ...(max_tokens !== undefined && { max_tokens }),
  };
  return {
    kind: 'expanding',
    plan: { ...planOf(attempt, given, work), ...countOf(recalled) },
    items: [],
    agent: work,
    ...(recalled.note !== undefined && { log: [recalled.note] }),
  };
}

type Rendered = { model: string; messages: TurnMessage[]; response_schema?: JsonMap };

function renderPrompt(attempt: Attempt, { prompt }: Fields): string {
  const text = new Rendering(attempt).text('prompt', prompt, MAX_PROMPT_BYTES);
  if (text.trim() === '') throw new InvalidStep('prompt: is empty once rendered');
  return text;
}

function render(attempt: Attempt, { model, instructions, response_schema }: Fields, text: string): Rendered {
  if (model === undefined) throw new InvalidStep('model: is needed without agent_id');
  const rendering = new Rendering(attempt);
  const system = instructions === undefined ? '' : rendering.text('instructions', instructions, MAX_PROMPT_BYTES);
  const messages: TurnMessage[] = [
    ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content: [{ type: 'text', text }] },
  ];
  const schema = response_schema && (rendering.value('response_schema', response_schema as JsonMap) as JsonMap);
  const [problem] = schema === undefined ? [] : checkForm(schema, 'response_schema');
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  return { model: rendering.text('model', model), messages, ...(schema && { response_schema: schema }) };
}

/** Returns the maximum number of tokens of a conversation. */
async function windowOf(
  { run }: Attempt,
  model: string,
  limit = Number.POSITIVE_INFINITY,
  { turns }: AgentServices,
): Promise<number> {
  const { tenantId, projectId } = run;
  const window = await turns?.contextWindow({ tenantId, projectId }, model);
  return Math.min(window ?? DEFAULT_CONTEXT_WINDOW, limit);
}

function planOf(
  { step: { timeout_s }, prices }: Pick<Attempt, 'step' | 'prices'>,
  { limits, on_limit }: Fields,
  work: Rendered & { tools: PlannedTool[]; context_window: number },
): AgentPlan {
  const { max_turns, max_tool_calls, budget_credits, timeout_s: limit } = limits ?? {};
  const seconds = Math.min(timeout_s ?? limit ?? DEFAULT_AGENT_LIMITS.timeout_s, limit ?? Number.POSITIVE_INFINITY);
  const price = prices === undefined ? 0 : prices.workflow_step + prices.tool_call;
  return {
    type: 'agent',
    model: work.model,
    max_turns: max_turns ?? DEFAULT_AGENT_LIMITS.max_turns,
    max_tool_calls: max_tool_calls ?? DEFAULT_AGENT_LIMITS.max_tool_calls,
    ...(budget_credits !== undefined && { budget: Math.round(budget_credits * CREDIT), fitted: true as const }),
    ...(budget_credits !== undefined && price > 0 && { call_price: price }),
    timeout_s: seconds,
    ...(on_limit !== 'fail' && { closing_s: closingSeconds(seconds) }),
    on_limit: on_limit ?? 'answer',
    ...contextOf(work),
  };
}

/** Returns the size of the conversation and the size at which it is compacted. Without history, no message can be left out before the first turn. */
function contextOf(work: Pick<AgentWork, 'messages' | 'tools'> & { context_window: number }) {
  const { history } = conversationOf(work);
  const characters = history.length === 0 ? 0 : charactersOf(work.messages) + charactersOfTools(work);
  const context = Math.ceil(characters * ratioOf(null));
  return { ...(context > 0 && { context }), compact_at: Math.floor(work.context_window * COMPACT_AT) };
}

/** Returns the result of an agent: the result of its last turn with totals. */
function agentResult(attempt: Attempt, progress: AgentProgress): JsonMap {
  const { turns, limit, toolCalls, usage, plan } = progress;
  const last = turns.at(-1);
  const turn = last === undefined ? null : turnResultOf(attempt.result(last.id));
  const outside = outsideOfAnswer(workOf(progress.settings), progress);
  return {
    text: turn?.text ?? '',
    ...(turn?.object !== undefined && { object: turn.object }),
    ended_by: limit ?? 'answered',
    complete: limit === null && turn?.finish_reason !== 'length',
    turns: turns.length,
    tool_calls: toolCalls,
    model: turn?.model ?? plan.model,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    ...(outside !== null && { outside }),
  };
}
