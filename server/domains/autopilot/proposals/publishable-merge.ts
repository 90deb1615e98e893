import type { Context } from '../../../operation/context.ts';
import { partsOfRow } from '../../workflows/apply-edits.ts';
import type { Conflict, Draft, Json } from '../../workflows/edits/index.ts';
import { validateDraft } from '../../workflows/validate.ts';
import { projectScope } from '../../workflows/view.ts';
import { proposalConflict } from './conflicts.ts';

type Sides = { base: Draft; wanted: Draft; before: Draft; merged: Draft; ours: 'proposal' | 'undone' };

/**
 * Requires that a merge can be published if both of its sides can. Throws AppError 409 `proposal_conflict` otherwise: the two sides change
 * different fields, and only the whole graph shows the conflict, such as a branch of a step that is no longer a condition.
 */
export async function requirePublishableMerge(
  ctx: Context,
  workflowId: string,
  { base, wanted, before, merged, ours }: Sides,
): Promise<void> {
  const check = (draft: Draft) => validateDraft(ctx.services, partsOfRow(draft), { ...projectScope(ctx), workflowId });
  const report = await check(merged);
  if (report.valid) return;
  // An error that one side already has is not a conflict, and may hide other errors.
  for (const side of [wanted, before]) if (!(await check(side)).valid) return;
  const conflicts = report.errors.map(({ step_id: step, path }): Conflict => {
    const field = fieldIn(path);
    const values = {
      base: valueIn(base, step, field),
      ours: valueIn(wanted, step, field),
      theirs: valueIn(before, step, field),
    };
    return { step, field, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) };
  });
  throw proposalConflict(conflicts, { ours, theirs: 'draft' });
}

/** Returns the field of a step in a path such as `steps[2].depends_on[0]`; null for the step itself. */
const fieldIn = (path: string): string | null => /^(?:steps\[\d+\]\.?)?([^.[\]]+)/.exec(path)?.[1] ?? null;

function valueIn({ graph, run_setup }: Draft, id: string | null, field: string | null): Json | undefined {
  if (id === null) return field === null ? undefined : { ...graph, run_setup }[field as 'output'];
  const step = graph.steps.find(each => each.id === id);
  return field === null || step === undefined ? step : step[field];
}
