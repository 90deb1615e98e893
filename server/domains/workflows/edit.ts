import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { AppError, conflict, invalid } from '../../platform/errors.ts';
import { checksum } from './checksum.ts';
import { acceptDraft } from './draft.ts';
import type { EditWorkflowInput, EditWorkflowOutput } from './edit-schemas.ts';
import { apply, type Draft, type Edit, type Restore, type Unrewritten } from './edits/index.ts';
import { archived, expectedRevision, requireEditable, whyUnchanged } from './precondition.ts';
import { saveDraft } from './save-draft.ts';
import type { WorkflowRow } from './store.ts';
import { answerWorkflow } from './view.ts';

type Output = z.input<typeof EditWorkflowOutput>;
/** Without If-Match, edits apply to what the draft is by now; this often the draft may change under them. */
const MAX_ATTEMPTS = 5;

/**
 * POST /v1/workflows/{id}/edits: applies all edits in their order, or none. With If-Match to that state of the draft alone. Throws
 * AppError 404, 409 `managed_elsewhere` or `workflow_archived`, 412 `etag_mismatch`, 422 `edit_not_applicable` with the edit's place, 422 for a result that
 * is no draft.
 */
export async function editWorkflow(ctx: Context, input: z.output<typeof EditWorkflowInput>): Promise<Output> {
  const revision = expectedRevision(ctx);
  const edits = input.edits as Edit[];
  let row = await requireEditable(ctx, input.id);
  for (const [at, edit] of edits.entries()) acceptValues(edit, at);
  for (let attempt = 1; ; attempt += 1) {
    if (row.status === 'archived') throw archived();
    if (revision !== null && revision !== row.revision) throw await whyUnchanged(ctx, input.id);
    const result = applyAll(draftOf(row), edits);
    const saved = await save(ctx, row, result.draft);
    if (saved !== null) {
      return {
        workflow: answerWorkflow(ctx, saved),
        undo: result.undo as Output['undo'],
        unrewritten: result.unrewritten,
      };
    }
    const why = await whyUnchanged(ctx, input.id);
    if (why.status !== 412 || revision !== null) throw why;
    if (attempt === MAX_ATTEMPTS) throw conflict('busy', 'Others are changing the workflow at this moment. Try again.');
    row = await requireEditable(ctx, input.id);
  }
}

const draftOf = (row: WorkflowRow): Draft =>
  ({ name: row.name, description: row.description, graph: row.graph, run_setup: row.runSetup }) as unknown as Draft;

/** Refuses values that no draft may hold before anything walks through them: they may be nested without end. */
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

function applyAll(draft: Draft, edits: readonly Edit[]): { draft: Draft; undo: Restore[]; unrewritten: Unrewritten[] } {
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

/** Saves what differs; null where the draft is not at the revision of `row` any more. */
async function save(ctx: Context, row: WorkflowRow, draft: Draft): Promise<WorkflowRow | null> {
  const graph = (draft.graph as unknown) === row.graph ? undefined : draft.graph;
  const runSetup = (draft.run_setup as unknown) === row.runSetup ? undefined : draft.run_setup;
  const { name, description } = draft;
  if (!graph && !runSetup && name === row.name && description === row.description) return row;
  acceptDraft({ graph, runSetup });
  return saveDraft(
    ctx,
    { id: row.id, revision: row.revision },
    { name, description, graph: graph && { value: graph, checksum: checksum(graph) }, runSetup },
  );
}
