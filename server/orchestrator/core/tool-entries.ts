/** The part of an entry of an agent's `tools` that says how the tools that it names may be called. */
export type Approval = 'auto' | 'ask' | 'deny';
export type ToolEntry = {
  readonly tools: readonly string[];
  readonly approval?: Approval | undefined;
  readonly on_lost?: 'retry' | 'ask' | undefined;
};

/** Names every tool that the published version of a server has. */
export const ALL_TOOLS = '*';

/** From lax to strict. Without an approval a tool that only reads is called, and every other one asks. */
const STRICTNESS: readonly (Approval | undefined)[] = ['auto', undefined, 'ask', 'deny'];
const strictnessOf = (approval: Approval | undefined): number => STRICTNESS.indexOf(approval);

/**
 * The effective settings of one tool. `isWildcard`: they apply to all tools. `onLost`: whether to ask or to retry after a call
 * that may have happened; undefined: its entries do not define it.
 */
export type EffectiveEntry = {
  readonly approval: Approval | undefined;
  readonly isWildcard: boolean;
  readonly onLost: ToolEntry['on_lost'];
};

/**
 * Returns what the entries of one instance say about a tool, regardless of their order; undefined if none offers it. Entries that name the
 * tool count before those that mean all tools, and of several the strictest one counts: `deny`, then `ask`, then `auto`.
 */
export function effectiveEntry(entries: readonly ToolEntry[], tool: string): EffectiveEntry | undefined {
  const deciding = decidingEntries(entries, tool);
  const [first] = deciding;
  if (first === undefined) return undefined;
  const strictest = deciding.reduce(
    (strict, { approval }) => (strictnessOf(approval) > strictnessOf(strict) ? approval : strict),
    first.approval,
  );
  const lost = deciding.map(({ on_lost }) => on_lost);
  return {
    approval: strictest,
    isWildcard: deciding.some(({ tools }) => tools.includes(ALL_TOOLS)),
    // Undefined is between the two: such calls ask only if the tool may be destructive.
    onLost: lost.includes('ask') ? 'ask' : lost.includes(undefined) ? undefined : 'retry',
  };
}

function decidingEntries(entries: readonly ToolEntry[], tool: string): readonly ToolEntry[] {
  const named = entries.filter(({ tools }) => tools.includes(tool));
  return named.length > 0 ? named : entries.filter(({ tools }) => tools.includes(ALL_TOOLS));
}

/** The approvals that a workspace has decided on; null: none. `risky`: of tools that may destroy, or that reach an open world. */
export type WorkspaceApprovals = {
  readonly read: Approval | null;
  readonly write: Approval | null;
  readonly risky: Approval | null;
};
export const NO_APPROVALS: WorkspaceApprovals = { read: null, write: null, risky: null };

type ToolFacts = { readonly readOnly: boolean; readonly destructive: boolean; readonly openWorld: boolean };

/**
 * Returns the settings of a tool in a workspace. The strictest of the workspace's approvals that fit the tool is the default of entries
 * without one, and the least for all others. As a default it was given to many tools at once, like that of a wildcard.
 */
export function withWorkspace(entry: EffectiveEntry, tool: ToolFacts, workspace: WorkspaceApprovals): EffectiveEntry {
  const fitting = [
    tool.readOnly ? workspace.read : workspace.write,
    tool.destructive || tool.openWorld ? workspace.risky : null,
  ].filter(approval => approval !== null);
  const [first] = fitting;
  if (first === undefined) return entry;
  const least = fitting.reduce((strict, each) => (strictnessOf(each) > strictnessOf(strict) ? each : strict), first);
  if (entry.approval === undefined) return { ...entry, approval: least, isWildcard: true };
  return strictnessOf(least) > strictnessOf(entry.approval) ? { ...entry, approval: least } : entry;
}

/** A tool about which entries differ. `at`: the place of the first entry that names it, and of its name in there. */
export type Contradiction = {
  readonly tool: string;
  readonly at: readonly [entry: number, tool: number];
  readonly effective: Approval | undefined;
};

/** Returns the tools for which entries of one instance give different approvals; `*` for those that no entry names. */
export function contradictions(entries: readonly ToolEntry[]): Contradiction[] {
  const names = new Set(entries.flatMap(({ tools }) => tools));
  return [...names].flatMap(tool => {
    const given = entries.filter(({ tools }) => tools.includes(tool) || tools.includes(ALL_TOOLS));
    if (new Set(given.map(({ approval }) => approval)).size < 2) return [];
    const entry = entries.findIndex(({ tools }) => tools.includes(tool));
    const place = entries[entry]?.tools.indexOf(tool) ?? 0;
    return [{ tool, at: [entry, place] as const, effective: effectiveEntry(entries, tool)?.approval }];
  });
}
