import type { Outputs } from '../trpc/provider.tsx';
import type { Tone } from '../ui/badge.tsx';

export type Item = Outputs['memory_items_list']['items'][number];
export type ItemWithEvidence = Outputs['memory_items_get'];
export type Hit = Outputs['memory_search']['hits'][number];
export type Kind = Item['kind'];
export type Visibility = Item['visibility'];
export type Status = Item['status'];
export type Source = Outputs['memory_get_episode']['source'];
export type Signal = keyof NonNullable<Hit['ranks']>;

export const kinds: readonly Kind[] = ['fact', 'preference', 'instruction', 'procedure', 'outcome'];
export const visibilities: readonly Visibility[] = ['private', 'project', 'workspace'];
export const statuses: readonly Status[] = ['proposed', 'active', 'superseded', 'rejected'];

export const kindLabels: Record<Hit['kind'], string> = {
  fact: 'Fact',
  preference: 'Preference',
  instruction: 'Instruction',
  procedure: 'Procedure',
  outcome: 'Outcome',
  episode: 'Said or read',
};
export const visibilityLabels: Record<Visibility, string> = {
  private: 'Only you',
  project: 'This project',
  workspace: 'Whole workspace',
};
export const statusLabels: Record<Status, { label: string; tone: Tone }> = {
  proposed: { label: 'Waiting for review', tone: 'warn' },
  active: { label: 'Active', tone: 'ok' },
  superseded: { label: 'Superseded', tone: 'neutral' },
  rejected: { label: 'Rejected', tone: 'bad' },
};
export const sourceLabels: Record<Source, string> = {
  thread: 'Conversation',
  run: 'Run',
  file: 'File',
  note: 'Note',
};
export const signalLabels: Record<Signal, string> = {
  text: 'words',
  trigram: 'spelling',
  subject: 'subject',
  vector: 'meaning',
  recency: 'recency',
};

/** Returns the reasons for the rank of a hit: “1st by words, 3rd by recency”. */
export function whyRanked(ranks: Hit['ranks']): string {
  const signals = Object.entries(ranks ?? {}) as [Signal, number][];
  return signals
    .sort(([, one], [, other]) => one - other)
    .map(([signal, rank]) => `${ordinal(rank)} by ${signalLabels[signal]}`)
    .join(', ');
}

const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };
const rules = new Intl.PluralRules('en', { type: 'ordinal' });
const ordinal = (rank: number): string => `${rank}${endings[rules.select(rank)] ?? 'th'}`;

type Permissions = { canWrite: boolean; isAdmin: boolean };

/** Returns whether a member may write memories of this visibility. The server checks this as well. */
export function mayWrite(visibility: Visibility, { canWrite, isAdmin }: Permissions): boolean {
  return visibility === 'private' || (visibility === 'project' ? canWrite : isAdmin);
}

/** Returns a count with its noun: “1 item”, “2 items”. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
