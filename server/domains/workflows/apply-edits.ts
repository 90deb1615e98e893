import { AppError, invalid } from '../../platform/errors.ts';
import { acceptDraft } from './draft.ts';
import { apply, type Draft, type Edit, type Restore, type Unrewritten } from './edits/index.ts';
import type { WorkflowRow } from './store.ts';

/**
 * Returns the draft of a workflow in the form that edits change: the same graph, in the read-only types that browsers
 * share.
 */
export const draftOf = (row: Pick<WorkflowRow, 'name' | 'description' | 'graph' | 'runSetup'>): Draft =>
  ({ name: row.name, description: row.description, graph: row.graph, run_setup: row.runSetup }) as Draft;

/** Returns the graph and the run setup of a draft, in the types of the row and of the orchestrator. */
export const partsOfRow = ({ graph, run_setup }: Draft): Pick<WorkflowRow, 'graph' | 'runSetup'> =>
  ({ graph, runSetup: run_setup }) as Pick<WorkflowRow, 'graph' | 'runSetup'>;

/**
 * Throws AppError 422 for edits with values that no draft may hold. Must be called before any other code reads the
 * edits, because their values may be nested without limit.
 */
export function acceptEdits(edits: readonly Edit[]): void {
  for (const [at, edit] of edits.entries()) acceptValues(edit, at);
}

function acceptValues(edit: Edit, at: number): void {
  try {
    for (const step of stepsIn(edit)) acceptDraft({ graph: { steps: [step] } });
    if ('run_setup' in edit && edit.run_setup !== undefined) acceptDraft({ runSetup: edit.run_setup });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = (error.details ?? []).map(detail => ({ ...detail, path: `edits[${at}]` }));
    throw invalid(error.message, details, error.code);
  }
}

function stepsIn(edit: Edit): unknown[] {
  const asStep = (fields: object) => ({ ...fields, id: 'step', type: 'step' });
  switch (edit.type) {
    case 'add_step':
    case 'insert_between':
      return [edit.step];
    case 'update_step':
      return edit.set === undefined ? [] : [asStep(edit.set)];
    case 'restore':
      return edit.steps.flatMap(item =>
        item.change === 'add' ? [item.step] : item.change === 'update' ? [asStep(item.set)] : [],
      );
    default:
      return [];
  }
}

export type AppliedEdits = { draft: Draft; undo: Restore[]; unrewritten: Unrewritten[] };

/**
 * Applies edits in their order. Returns the draft, and the edits that undo them, in the order in which to apply them.
 * Throws AppError 422 `edit_not_applicable` with the place of the first edit that does not fit.
 */
export function applyEdits(draft: Draft, edits: readonly Edit[]): AppliedEdits {
  let now = draft;
  const undo: Restore[] = [];
  const unrewritten: Unrewritten[] = [];
  for (const [at, edit] of edits.entries()) {
    const result = apply(now, edit);
    if (!result.ok) {
      const { code, message } = result.problem;
      throw invalid(
        `Edit ${at + 1} cannot be applied: ${message}`,
        [{ path: `edits[${at}]`, message, code }],
        'edit_not_applicable',
      );
    }
    now = result.draft;
    undo.unshift(result.inverse);
    unrewritten.push(...result.unrewritten);
  }
  return { draft: now, undo, unrewritten };
}
