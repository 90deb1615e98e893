import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { requireWorkflow } from '../get.ts';
import type { WorkflowRow } from '../store.ts';
import { etagOf } from '../view.ts';
import { type EditorRow, readSaved, readSeen } from './queries.ts';
import { EDITOR_OPEN_MS, type EditorsOutput, type ListEditorsInput, MAX_EDITORS } from './schemas.ts';

/**
 * GET /v1/workflows/{id}/editors: returns the people who edit the draft now, and those who have saved it after a state.
 * Throws AppError 404.
 */
export async function listEditors(
  ctx: Context,
  input: z.output<typeof ListEditorsInput>,
): Promise<z.input<typeof EditorsOutput>> {
  const workflow = await requireWorkflow(ctx, input.id);
  return answerEditors(ctx, workflow, input.since);
}

/**
 * Returns the people who edit the draft of a workflow that the caller may read, and those who saved it after `since`.
 */
export async function answerEditors(
  { services: { pool, clock } }: Context,
  workflow: WorkflowRow,
  since?: string,
): Promise<z.input<typeof EditorsOutput>> {
  const draft = { tenantId: workflow.tenantId, workflowId: workflow.id };
  const open = { after: new Date(clock.now() - EDITOR_OPEN_MS), limit: MAX_EDITORS };
  const [editing, saved] = await Promise.all([
    readSeen(pool, draft, open),
    since === undefined ? [] : readSaved(pool, draft, { after: revisionOf(since), limit: MAX_EDITORS }),
  ]);
  return { etag: etagOf(workflow), editing: editing.map(toEditor), saved: saved.map(toEditor) };
}

/** Returns the revision in an ETag that the schema has accepted. */
const revisionOf = (etag: string): number => Number(etag.slice(1, -1));

const toEditor = ({ userId, name, at }: EditorRow) => ({ user_id: userId, name, at: isoTimestamp(at.getTime()) });
