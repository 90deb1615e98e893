import fc from 'fast-check';

/**
 * Generates histories of agents whose model an attacker controls, and states the permitted behavior. Written only from
 * the rules of docs/agents.md.
 */

/** Each tool as its published version describes it. */
export const HOSTILE_TOOLS = {
  look: { reads: true, open: false, destroys: false },
  page: { reads: true, open: true, destroys: false },
  /** Fails with a text from outside. */
  broken: { reads: true, open: true, destroys: false },
  note: { reads: false, open: false, destroys: false },
  post: { reads: false, open: true, destroys: false },
  drop: { reads: false, open: false, destroys: true },
} as const;
export type HostileTool = keyof typeof HOSTILE_TOOLS;
const TOOL_NAMES = Object.keys(HOSTILE_TOOLS) as HostileTool[];

export type Entry = { tools: string[]; approval: 'auto' | 'ask' | 'deny' | undefined };
export type HostileCall = { tool: HostileTool | 'ghost'; isValid: boolean };
/** `misspelt` and `unfit` are refused, and an approval follows. `leaver`: the person who approved is removed before the call starts. */
export type TaskAnswer = 'approve' | 'edit' | 'reject' | 'misspelt' | 'unfit' | 'leaver';
export type HostileHistory = {
  entries: Entry[];
  /**
   * The source that the prompt reads: none, the input, the result of a tool that a step has called (`secret`: one of a
   * closed world), or of a script that has read that result.
   */
  prompt: 'plain' | 'input' | 'step' | 'script' | 'secret';
  /** The starter of the run: a member or a webhook. */
  startedBy: 'member' | 'webhook';
  turns: HostileCall[][];
  answers: TaskAnswer[];
};

const entry = fc.record({
  tools: fc.uniqueArray(fc.constantFrom('*', '*', ...TOOL_NAMES), { minLength: 1, maxLength: 4 }),
  approval: fc.constantFrom('auto', 'auto', 'ask', 'deny', undefined),
});
/** The entries of most agents: they include every tool, and none names a single tool. */
const allTools = fc.constantFrom<Entry['approval'][]>('auto', undefined).map(approval => [{ tools: ['*'], approval }]);
const call = fc.record({
  tool: fc.constantFrom<(HostileTool | 'ghost')[]>(...TOOL_NAMES, 'note', 'note', 'look', 'page', 'page', 'ghost'),
  isValid: fc.integer({ min: 0, max: 9 }).map(n => n > 0),
});
const taskAnswer = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<TaskAnswer[]>('approve', 'edit', 'reject', 'misspelt', 'unfit') },
  { weight: 1, arbitrary: fc.constant<TaskAnswer>('leaver') },
);
const history: fc.Arbitrary<HostileHistory> = fc.record({
  entries: fc.oneof(fc.array(entry, { minLength: 1, maxLength: 4 }), allTools),
  prompt: fc.constantFrom('plain', 'plain', 'input', 'step', 'script', 'secret'),
  startedBy: fc.constantFrom('member', 'webhook'),
  turns: fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  answers: fc.array(taskAnswer, { minLength: 3, maxLength: 6 }),
});

/** Returns histories drawn from a seed. */
export const hostileHistories = (seed: number, count: number): HostileHistory[] =>
  fc.sample(history, { seed, numRuns: count });

/** The rule for one call. `denied`: it is never made. `asks`: only when a person has approved it. */
export type Rule = 'denied' | 'asks' | 'free';

/** The kinds of text in the conversation: from outside, and private. */
export type Read = { isTainted: boolean; isPrivate: boolean };

/** Returns the rule for a call, given the content of the conversation. Written from the documentation, not from the code. */
export function ruleFor(
  entries: readonly Entry[],
  { tool, isValid }: HostileCall,
  { isTainted, isPrivate }: Read,
): Rule {
  if (tool === 'ghost' || !isValid) return 'denied';
  const named = entries.filter(({ tools }) => tools.includes(tool));
  const deciding = named.length > 0 ? named : entries.filter(({ tools }) => tools.includes('*'));
  const someHave = (approval: Entry['approval']) => deciding.some(each => each.approval === approval);
  if (deciding.length === 0 || someHave('deny')) return 'denied';
  const { reads, open, destroys } = HOSTILE_TOOLS[tool];
  if (destroys || someHave('ask')) return 'asks';
  const isWildcard = deciding.some(({ tools }) => tools.includes('*'));
  if (reads) return isTainted && isPrivate && open && isWildcard ? 'asks' : 'free';
  if (someHave(undefined)) return 'asks';
  return isTainted && isWildcard ? 'asks' : 'free';
}

/** Returns the kinds of text in the conversation when the agent starts. */
export function begins({ prompt, startedBy }: HostileHistory): Read {
  const isOfStep = prompt === 'step' || prompt === 'script' || prompt === 'secret';
  return { isTainted: isOfStep || (prompt === 'input' && startedBy === 'webhook'), isPrivate: isOfStep };
}

/** Returns whether no tool is offered; the model is then called once, and its tool calls are ignored. */
export const offersNothing = ({ entries }: HostileHistory): boolean =>
  TOOL_NAMES.every(
    tool => ruleFor(entries, { tool, isValid: true }, { isTainted: false, isPrivate: false }) === 'denied',
  );
