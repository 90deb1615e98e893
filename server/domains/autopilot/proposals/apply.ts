import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict, type ErrorDetail, invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type Transaction, transact } from '../../../platform/postgres/transaction.ts';
import { draftOf } from '../../workflows/apply-edits.ts';
import { checksum } from '../../workflows/checksum.ts';
import { acceptDraft } from '../../workflows/draft.ts';
import { choose, type Draft, merge, sameDraft } from '../../workflows/edits/index.ts';
import { archived, expectedRevision, requireEditable, revisionIn, whyUnchanged } from '../../workflows/precondition.ts';
import { saveDraftIn } from '../../workflows/save-draft.ts';
import { insertWorkflow, type WorkflowRow } from '../../workflows/store.ts';
import { answerWorkflow, projectScope } from '../../workflows/view.ts';
import type { ApplyProposalInput, ChangedWorkflow, ProposalRef } from '../schemas.ts';
import { proposalConflict } from './conflicts.ts';
import { requirePublishableMerge } from './publishable-merge.ts';
import { requireReviewed } from './review.ts';
import { type ProposalRow, recordApplied, updateStatus } from './store.ts';
import { requireOpen, requireProposal, toProposalHead } from './view.ts';

type Output = z.input<typeof ChangedWorkflow>;
/** Writes the planned draft. Returns null if the draft has changed since the plan was made. */
type Write = (tx: Transaction) => Promise<WorkflowRow | null>;
type WritePlan = { write: Write; changed: boolean };
/** How often a request starts over because the draft has changed meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * POST /v1/autopilot/proposals/{id}/apply: merges the proposal, or its changes of some steps, into the current draft. Publishes no version.
 * Throws AppError 404, 409 `proposal_conflict` with both sides, `proposal_closed`, `workflow_archived` or `busy`, 412, 428, and 422
 * `unknown_step`, `step_needed`, or if the result is no valid draft.
 */
export async function applyProposal(ctx: Context, input: z.output<typeof ApplyProposalInput>): Promise<Output> {
  return retryWhileChanged(ctx, input.id, async row => {
    requireOpen(row);
    requireReviewed(ctx, row, input.etag);
    const expected = revisionIn(input.draft_etag);
    const wanted = input.steps === undefined ? row.draft : chooseSteps(row, input.steps);
    const { before, write, changed } =
      row.workflow_id === null
        ? planCreation(ctx, wanted)
        : await planMerge(ctx, row.workflow_id, { base: row.base, wanted, ours: 'proposal', expected });
    const record: Write = async tx => {
      const workflow = await write(tx);
      if (workflow === null) return null;
      const at = new Date(ctx.services.clock.now());
      const applied = { workflowId: workflow.id, revision: workflow.revision, before, after: draftOf(workflow) };
      await recordApplied(tx, { ...projectScope(ctx), id: row.id, at }, { ...applied, by: ctx.principal.userId });
      return workflow;
    };
    return { write: record, changed };
  });
}

/**
 * POST /v1/autopilot/proposals/{id}/undo: reverses the changes of the proposal in the draft and keeps later changes. Throws AppError 404, 409
 * `proposal_conflict` with both sides, `proposal_not_applied`, `workflow_archived` or `busy`, 412.
 */
export async function undoProposal(ctx: Context, { id }: z.output<typeof ProposalRef>): Promise<Output> {
  return retryWhileChanged(ctx, id, async row => {
    const { workflow_id, before, after, revision } = row;
    if (row.status !== 'applied' || workflow_id === null || before === null || after === null) {
      const message = `Only a proposal that is applied can be undone; this one is ${row.status}.`;
      throw conflict('proposal_not_applied', message);
    }
    const { write, changed } = await planMerge(ctx, workflow_id, {
      base: after,
      wanted: before,
      ours: 'undone',
      expected: expectedRevision(ctx),
    });
    const record: Write = async tx => {
      const workflow = await write(tx);
      if (workflow === null) return null;
      const at = new Date(ctx.services.clock.now());
      await updateStatus(tx, { ...projectScope(ctx), id, revision, at }, 'undone');
      return workflow;
    };
    return { write: record, changed };
  });
}

/** Plans a write and executes it. Plans again if the proposal or the draft has changed meanwhile. */
async function retryWhileChanged(
  ctx: Context,
  id: string,
  plan: (row: ProposalRow) => Promise<WritePlan>,
): Promise<Output> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const row = await requireProposal(ctx, id);
    const { write, changed } = await plan(row);
    const workflow = await transact(ctx.services, async tx => {
      const now = await requireProposal(ctx, id, { db: tx, lock: true });
      return now.revision === row.revision ? write(tx) : null;
    });
    if (workflow === null) continue;
    const proposal = toProposalHead(await requireProposal(ctx, id));
    return { proposal, workflow: answerWorkflow(ctx, workflow), changed };
  }
  throw conflict('busy', 'Others are changing the workflow at this moment. Try again.');
}

function chooseSteps({ base, draft }: ProposalRow, steps: readonly string[]): Draft {
  const result = choose(base, draft, steps);
  if (result.ok) return result.draft;
  const unknown = result.unknown.map((id): ErrorDetail => {
    const path = `steps[${steps.indexOf(id)}]`;
    return { path, code: 'unknown_step', message: `the proposal does not change a step "${id.slice(0, 80)}"` };
  });
  if (unknown.length > 0) throw invalid('The proposal does not change these steps.', unknown, 'unknown_step');
  const needed = result.needed.map(({ step, needs }): ErrorDetail => {
    const message = `"${step}" refers to "${needs}", which would not be there`;
    return {
      path: 'steps',
      code: 'step_needed',
      step_id: step,
      message,
      hint: `Choose both of "${step}" and "${needs}".`,
    };
  });
  throw invalid('These steps need others that were not chosen.', needed, 'step_needed');
}

type MergePlan = { before: Draft; write: Write; changed: boolean };

function planCreation(ctx: Context, draft: Draft): MergePlan {
  const { name, description, graph, run_setup: runSetup } = draft;
  acceptDraft({ graph, runSetup });
  const contents = { name, description, graph, runSetup, graphChecksum: checksum(graph) };
  const { userId: createdBy } = ctx.principal;
  const at = new Date(ctx.services.clock.now());
  return {
    before: { name, description, graph: { steps: [] }, run_setup: {} },
    changed: true,
    write: tx => insertWorkflow(tx, { id: newId(), scope: projectScope(ctx), ...contents, createdBy, at }),
  };
}

type Change = { base: Draft; wanted: Draft; ours: 'proposal' | 'undone'; expected: number | null };

/** Plans to merge the changes from `base` to `wanted` into the draft of the workflow. */
async function planMerge(ctx: Context, id: string, { base, wanted, ours, expected }: Change): Promise<MergePlan> {
  const row = await requireEditable(ctx, id);
  if (row.status === 'archived') throw archived();
  if (expected !== null && expected !== row.revision) throw await whyUnchanged(ctx, id);
  const before = draftOf(row);
  const merged = merge(base, wanted, before);
  if (!merged.ok) throw proposalConflict(merged.conflicts, { ours, theirs: 'draft' });
  const { name, description, graph, run_setup: runSetup } = merged.draft;
  acceptDraft({ graph, runSetup });
  await requirePublishableMerge(ctx, id, { base, wanted, before, merged: merged.draft, ours });
  const changed = !sameDraft(before, merged.draft);
  const contents = { name, description, graph: { value: graph, checksum: checksum(graph) }, runSetup };
  return { before, changed, write: tx => saveDraftIn(tx, ctx, { id, revision: row.revision }, contents) };
}
