import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { conflict } from '../../platform/errors.ts';
import { acceptEdits, applyEdits, draftOf } from './apply-edits.ts';
import { checksum } from './checksum.ts';
import { acceptDraft } from './draft.ts';
import type { EditWorkflowInput, EditWorkflowOutput } from './edit-schemas.ts';
import { type Draft, type Edit, identicalJson, type Json, sameDraft } from './edits/index.ts';
import { redactPins } from './pinned-results.ts';
import { archived, expectedRevision, requireEditable, whyUnchanged } from './precondition.ts';
import { saveDraft } from './save-draft.ts';
import type { WorkflowRow } from './store.ts';
import { answerWorkflow } from './view.ts';

type Output = z.input<typeof EditWorkflowOutput>;
/** Edits without If-Match apply to the newest draft, which may change meanwhile. They are retried this many times. */
const MAX_ATTEMPTS = 5;

/**
 * POST /v1/workflows/{id}/edits: applies all edits in their order, or none. With If-Match, they apply only to the draft
 * with that ETag. Throws AppError 404, 409 `managed_elsewhere` or `workflow_archived`, 412 `etag_mismatch`, 422
 * `edit_not_applicable` with the edit's place, and 422 for a result that is not a valid draft.
 */
export async function editWorkflow(ctx: Context, input: z.output<typeof EditWorkflowInput>): Promise<Output> {
  const revision = expectedRevision(ctx);
  const edits = input.edits as Edit[];
  let row = await requireEditable(ctx, input.id);
  acceptEdits(edits);
  for (let attempt = 1; ; attempt += 1) {
    if (row.status === 'archived') throw archived();
    if (revision !== null && revision !== row.revision) throw await whyUnchanged(ctx, input.id);
    const result = applyEdits(draftOf(row), edits);
    const saved = await save(ctx, row, result.draft);
    if (saved !== null) {
      return {
        workflow: answerWorkflow(ctx, saved),
        changed: isChanged(draftOf(row), result.draft),
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

/** Returns whether two drafts differ, even if only in the order of keys. */
function isChanged(before: Draft, after: Draft): boolean {
  return !sameDraft(before, after) || !identicalJson(before.graph as Json, after.graph as Json);
}

/** Saves the parts that differ. Returns null if the draft is no longer at the revision of `row`. */
async function save(ctx: Context, row: WorkflowRow, draft: Draft): Promise<WorkflowRow | null> {
  const graph = (draft.graph as unknown) === row.graph ? undefined : draft.graph;
  const isKept = (draft.run_setup as unknown) === row.runSetup;
  const { name, description } = draft;
  if (!graph && isKept && name === row.name && description === row.description) return row;
  if (graph) acceptDraft({ graph });
  if (!isKept) acceptDraft({ runSetup: draft.run_setup });
  const runSetup = isKept ? undefined : await redactPins(ctx, draft.run_setup, row.runSetup);
  return saveDraft(
    ctx,
    { id: row.id, revision: row.revision },
    { name, description, graph: graph && { value: graph, checksum: checksum(graph) }, runSetup },
  );
}
