import type { Inputs, Outputs } from '../trpc/provider.tsx';

export type Agent = Outputs['agents_get'];
type Patch = Omit<Inputs['agents_patch'], 'id'>;

/** The contents of an agent's form. Numbers are stored as typed text. */
export type AgentDraft = {
  name: string;
  description: string;
  model: string;
  instructions: string;
  tools: Agent['tools'];
  memory: Agent['memory'];
  maxTurns: string;
  maxToolCalls: string;
  timeoutS: string;
  budgetCredits: string;
  onLimit: Agent['on_limit'];
  temperature: string;
  maxTokens: string;
  /** One per line. */
  starters: string;
};

export const draftOf = (agent: Agent): AgentDraft => ({
  name: agent.name,
  description: agent.description,
  model: agent.model,
  instructions: agent.instructions,
  tools: agent.tools,
  memory: agent.memory,
  maxTurns: String(agent.limits.max_turns),
  maxToolCalls: String(agent.limits.max_tool_calls),
  timeoutS: String(agent.limits.timeout_s),
  budgetCredits: textOf(agent.limits.budget_credits),
  onLimit: agent.on_limit,
  temperature: textOf(agent.temperature),
  maxTokens: textOf(agent.max_tokens),
  starters: agent.starters.join('\n'),
});

const textOf = (value: number | null | undefined): string => (value == null ? '' : String(value));

/** The number fields of a draft, with the paths under which the server reports problems. */
const NUMBERS = {
  maxTurns: 'limits.max_turns',
  maxToolCalls: 'limits.max_tool_calls',
  timeoutS: 'limits.timeout_s',
  budgetCredits: 'limits.budget_credits',
  temperature: 'temperature',
  maxTokens: 'max_tokens',
} as const;
type NumberField = keyof typeof NUMBERS;
/** The number fields that may be empty, which selects their default. */
const OPTIONAL: ReadonlySet<NumberField> = new Set(['budgetCredits', 'temperature', 'maxTokens']);

/** Returns the request that saves a draft, or the problems of invalid fields, by path. */
export function patchOf(draft: AgentDraft): { patch: Patch } | { problems: Record<string, string> } {
  const problems: Record<string, string> = {};
  for (const field of Object.keys(NUMBERS) as NumberField[]) {
    const text = draft[field].trim();
    if (text === '' && OPTIONAL.has(field)) continue;
    if (text === '' || !Number.isFinite(Number(text))) problems[NUMBERS[field]] = 'Enter a number.';
  }
  if (draft.name.trim() === '') problems.name = 'This field is required.';
  if (draft.model === '') problems.model = 'This field is required.';
  if (Object.keys(problems).length > 0) return { problems };
  const { name, description, model, instructions, tools, memory, onLimit } = draft;
  const limits = {
    max_turns: Number(draft.maxTurns),
    max_tool_calls: Number(draft.maxToolCalls),
    timeout_s: Number(draft.timeoutS),
    budget_credits: numberOf(draft.budgetCredits),
  };
  const modelSettings = { temperature: numberOf(draft.temperature), max_tokens: numberOf(draft.maxTokens) };
  const starters = draft.starters.split('\n').flatMap(line => line.trim() || []);
  const texts = { name, description, model, instructions, tools, memory };
  return { patch: { ...texts, limits, on_limit: onLimit, ...modelSettings, starters } };
}

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** Returns whether two drafts are equal. */
export const isSame = (a: AgentDraft, b: AgentDraft): boolean => JSON.stringify(a) === JSON.stringify(b);
