import { parseJson } from '@/server/platform/json-text.ts';
import type { DraftDiff, StepChange } from '../../../server/domains/workflows/edits/index.ts';
import type { Inputs, Outputs } from '../../trpc/provider.tsx';
import type { Tone } from '../../ui/badge.tsx';

export type Proposal = Outputs['autopilot_get_proposal'];
export type ProposalHead = Outputs['autopilot_list_proposals']['proposals'][number];
export type Trial = Outputs['autopilot_get_trial'];
export type Check = Inputs['autopilot_try_proposal']['checks'][number];
export type CheckOp = Check['op'];
/** A step that a trial replaces, or that a live trial executes, with the reason. */
export type Effect = Omit<Trial['stand_ins'][number], 'source'>;

/** The polling interval for an open proposal, because assistants may edit it, and people may edit the draft. */
export const PROPOSAL_REFRESH_MS = 3_000;

/** Returns whether a proposal can be tried, applied and discarded. */
export const isOpen = ({ status }: Pick<ProposalHead, 'status'>): boolean =>
  status === 'building' || status === 'ready' || status === 'needs_input';

/** The labels and tones of statuses. */
export const statusLooks: Record<ProposalHead['status'], { label: string; tone: Tone }> = {
  building: { label: 'Has errors', tone: 'warn' },
  ready: { label: 'Ready', tone: 'ok' },
  needs_input: { label: 'Needs input', tone: 'warn' },
  applied: { label: 'Applied', tone: 'accent' },
  undone: { label: 'Undone', tone: 'neutral' },
  discarded: { label: 'Discarded', tone: 'neutral' },
  superseded: { label: 'Replaced', tone: 'neutral' },
};

/** Returns the changes of a proposal. */
export const diffOf = ({ diff }: Proposal): DraftDiff => diff as DraftDiff;

/** Returns whether a proposal changes more than steps. These changes are not applied if only some steps are applied. */
export function changesOutside({ graph, notes, run_setup, details, reordered }: DraftDiff): boolean {
  return reordered || [graph, notes, run_setup, details].some(({ length }) => length > 0);
}

/** The fields that refer to other steps. */
const LINKS = ['depends_on', 'then', 'else'] as const;

/**
 * Returns the chosen steps with the new steps to which they are connected, because they cannot be applied without these. No step needs a
 * removal.
 */
export function withNeeded(changes: readonly StepChange[], chosen: ReadonlySet<string>): ReadonlySet<string> {
  const added = new Set(changes.flatMap(({ change, step }) => (change === 'added' ? [step] : [])));
  const links = new Map(changes.map(change => [change.step, linksOf(change)]));
  const all = new Set(chosen);
  for (const id of all) for (const link of links.get(id) ?? []) if (added.has(link)) all.add(link);
  return all;
}

function linksOf(change: StepChange): string[] {
  const values =
    change.change === 'added'
      ? LINKS.map(name => change.after[name])
      : change.change === 'changed'
        ? change.fields.flatMap(({ field, after }) => (LINKS.some(name => name === field) ? [after] : []))
        : [];
  return values.flatMap(value => (Array.isArray(value) ? value.filter(each => typeof each === 'string') : []));
}

/** The labels of operators, which stand between the two values of a check. */
export const opLabels: Record<CheckOp, string> = {
  equals: 'equals',
  not_equals: 'does not equal',
  contains: 'contains',
  exists: 'exists',
  absent: 'is absent',
  at_least: 'is at least',
  at_most: 'is at most',
  completed: 'has completed',
  skipped: 'was skipped',
};
const OPS_WITHOUT_VALUE: readonly CheckOp[] = ['exists', 'absent', 'completed', 'skipped'];
const OPS_WITHOUT_PATH: readonly CheckOp[] = ['completed', 'skipped'];

/** Returns whether an operator needs a value. */
export const takesValue = (op: CheckOp): boolean => !OPS_WITHOUT_VALUE.includes(op);
/** Returns whether an operator needs a path in the result. */
export const takesPath = (op: CheckOp): boolean => !OPS_WITHOUT_PATH.includes(op);

/** Returns a check as a sentence: "Total: sum equals 12". */
export function describeCheck({ step, path, op, value }: Check, called: (id: string) => string = id => id): string {
  const name = called(step);
  const what = path ? `${name}${name === step ? '.' : ': '}${path}` : name;
  return `${what} ${opLabels[op]}${takesValue(op) ? ` ${JSON.stringify(value) ?? ''}` : ''}`;
}

/** The form of a check. */
export type CheckText = { step: string; path: string; op: CheckOp; value: string };

/** The maximum number of checks of a trial. */
export const MAX_CHECKS = 50;

/** Returns the form of a check. */
export function checkText({ step, path = '', op, value }: Check): CheckText {
  const text = typeof value === 'string' && jsonOr(value) === value ? value : (JSON.stringify(value) ?? '');
  return { step, path, op, value: takesValue(op) ? text : '' };
}

/** The form for a trial's data: `run` continued from `step`, or `input` if `run` is empty. */
export type TrialSource = { run: string; step: string; input: string };

/** Returns the check of a form. A value that is not JSON is a text. */
export function readCheck({ step, path, op, value }: CheckText): Check {
  return {
    step,
    op,
    ...(takesPath(op) && path.trim() !== '' ? { path: path.trim() } : {}),
    ...(takesValue(op) ? { value: jsonOr(value) } : {}),
  };
}

function jsonOr(text: string): Check['value'] {
  try {
    return parseJson(text) as Check['value'];
  } catch {
    return text;
  }
}

/** Returns the initial checks of a trial: each added or changed step has to complete. */
export function firstChecks(changes: readonly StepChange[], most = MAX_CHECKS): CheckText[] {
  return changes
    .filter(({ change }) => change !== 'removed')
    .slice(0, most)
    .map(({ step }) => ({ step, path: '', op: 'completed', value: '' }));
}

/** The reasons why a trial replaces a step. */
export const effectLabels: Record<Effect['why'], string> = {
  writes: 'writes',
  sends: 'sends',
  asks_people: 'asks a person',
  waits: 'waits',
  starts_runs: 'starts runs',
  unknown_tool: 'calls an unknown tool',
  unseen: 'sends text written by a model',
};
export const verdictLooks: Record<'proven' | 'simulated' | 'failed', { label: string; tone: Tone; what: string }> = {
  proven: { label: 'Proven', tone: 'ok', what: 'All checks passed, and none depends on a replaced step.' },
  simulated: {
    label: 'Simulated',
    tone: 'info',
    what: 'All checks passed, provided that the replaced steps return what their stand-ins returned.',
  },
  failed: { label: 'Failed', tone: 'bad', what: 'A check failed, or the run did not complete.' },
};
