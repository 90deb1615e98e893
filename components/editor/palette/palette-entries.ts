import { FIRST_STEPS, stepFinding } from '@/server/orchestrator/steps/step-finding.ts';
import { STEP_HELP } from '@/server/orchestrator/steps/step-help.ts';
import { stepTypeLook } from '../../graph/step-icon.tsx';
import type { NewStep } from '../editor-actions.ts';
import type { StepTypeForm } from '../step-fields.ts';

/** An entry of the palette. */
export type PaletteEntry = NewStep & {
  key: string;
  label: string;
  /** One sentence about what the step does. */
  sentence: string;
  /** Search terms besides the label and the sentence. */
  keywords: readonly string[];
  unavailable: string | null;
};
export type PaletteGroup = { title: string; entries: readonly PaletteEntry[] };

const MAX_SUGGESTED = 3;
const MAX_RECENT = 3;

/** Returns the first sentence of a type's help; empty for a type without help. */
function sentenceOf(type: string): string {
  const known: Partial<Record<string, { what: string }>> = STEP_HELP;
  return /^.*?[.](?=\s|$)/s.exec(known[type]?.what ?? '')?.[0] ?? '';
}

/** Returns the entry of a step type. */
export function entryOf({ type, unavailable }: Pick<StepTypeForm, 'type' | 'unavailable'>): PaletteEntry {
  const keywords = [type, ...stepFinding(type).words];
  return { key: type, type, label: stepTypeLook(type).label, sentence: sentenceOf(type), keywords, unavailable };
}

type Known = { types: readonly StepTypeForm[]; typeBefore: string | null; recent: readonly string[] };

/**
 * Returns the step types in groups: frequent successors of the previous step, recently used types, and the other types in their own order.
 * Each type is in one group.
 */
export function groupsOf({ types, typeBefore, recent }: Known): PaletteGroup[] {
  const known = new Map(types.map(each => [each.type, each]));
  const usable = (type: string) => known.get(type)?.unavailable === null;
  const following: readonly string[] = typeBefore === null ? FIRST_STEPS : stepFinding(typeBefore).next;
  const suggested = following.filter(usable).slice(0, MAX_SUGGESTED);
  const used = recent.filter(type => usable(type) && !suggested.includes(type)).slice(0, MAX_RECENT);
  const others = types.filter(({ type }) => !suggested.includes(type) && !used.includes(type));
  const entriesOf = (names: readonly string[]) =>
    names.flatMap(type => {
      const form = known.get(type);
      return form === undefined ? [] : [entryOf(form)];
    });
  return [
    { title: 'Suggested', entries: entriesOf(suggested) },
    { title: 'Recent', entries: entriesOf(used) },
    { title: 'All steps', entries: others.map(entryOf) },
  ].filter(({ entries }) => entries.length > 0);
}

type Tool = { name: string; title?: string | null | undefined; description?: string | null | undefined };

/** Returns the entries for the tools of a connected server. Each entry adds a step that calls the tool. */
export function toolEntries(instance: { id: string; name: string }, tools: readonly Tool[]): PaletteEntry[] {
  return tools.map(({ name, title, description }) => ({
    key: `${instance.id}/${name}`,
    type: 'mcp_call',
    fields: { instance_id: instance.id, tool_name: name },
    label: title || name,
    sentence: `${instance.name}${description ? ` · ${firstLine(description)}` : ''}`,
    keywords: [name, instance.name],
    unavailable: null,
  }));
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 140) ?? '';

/** Returns whether the texts of the entry contain each word of a search. */
export function isFound(entry: PaletteEntry, search: string): boolean {
  const text = [entry.label, entry.sentence, ...entry.keywords].join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}

/** Returns the entries that match a search. Entries whose label or keyword begins with the search text come first. */
export function search(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const searched = text.trim().toLowerCase();
  const rank = ({ label, keywords }: PaletteEntry): number =>
    label.toLowerCase().startsWith(searched)
      ? 0
      : keywords.some(word => word.toLowerCase().startsWith(searched))
        ? 1
        : 2;
  return entries.filter(entry => isFound(entry, searched)).toSorted((a, b) => rank(a) - rank(b));
}
