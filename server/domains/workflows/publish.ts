import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { conflict, invalid } from '../../platform/errors.ts';
import { archived, requireEditable } from './precondition.ts';
import { toDetails } from './problems.ts';
import type { PublishInput, VersionSchema } from './schemas.ts';
import { validateDraft } from './validate.ts';
import { insertVersion } from './versions/queries.ts';
import { projectScope, toVersion } from './view.ts';

/** Validations before giving up. If the draft changes during a validation, the new draft is validated. */
const MAX_TRIES = 5;

/**
 * Publishes the draft as the next version: a snapshot of graph and run setup. Publishes exactly the draft that was
 * validated. Throws AppError 404, 409 `managed_elsewhere`, `workflow_archived` or `draft_changed`, 422 `invalid_graph`
 * with the problems.
 */
export async function publish(
  ctx: Context,
  input: z.output<typeof PublishInput>,
): Promise<z.input<typeof VersionSchema>> {
  const { pool, clock } = ctx.services;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const draft = await requireEditable(ctx, input.id);
    if (draft.status === 'archived') throw archived();
    const report = await validateDraft(ctx.services, draft, { ...projectScope(ctx), workflowId: draft.id });
    if (!report.valid) throw invalid('The graph cannot be published.', toDetails(report.errors), 'invalid_graph');
    const version = await insertVersion(
      pool,
      { ...projectScope(ctx), id: draft.id, revision: draft.revision },
      { changelog: input.changelog ?? '', by: ctx.principal.userId, at: new Date(clock.now()) },
    );
    if (version !== null) return toVersion(version);
  }
  throw conflict(
    'draft_changed',
    'The draft changed while it was being published. Publish again when nobody is editing it.',
  );
}
