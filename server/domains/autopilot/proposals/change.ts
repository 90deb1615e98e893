import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { derivedId, newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { findThreadOfRun } from '../../chat/messages/store.ts';
import { requireScopes } from '../../identity/authority.ts';
import { acceptEdits, applyEdits, draftOf, partsOfRow } from '../../workflows/apply-edits.ts';
import { acceptDraft } from '../../workflows/draft.ts';
import type { Draft, Edit, Fields } from '../../workflows/edits/index.ts';
import { withoutPins } from '../../workflows/pinned-results.ts';
import { archived, requireEditable } from '../../workflows/precondition.ts';
import type { WorkflowRow } from '../../workflows/store.ts';
import { validateDraft } from '../../workflows/validate.ts';
import { projectScope } from '../../workflows/view.ts';
import {
  type EditProposalInput,
  MAX_OPEN_PROPOSALS,
  MAX_PROPOSAL_BYTES,
  MAX_PROPOSAL_EDITS,
  MAX_ROUNDS,
  type ProposalRef,
  type ProposalSchema,
  type ProposalStatus,
  type ProposeInput,
} from '../schemas.ts';
import { findReadSource } from './read-source.ts';
import { requireMayChange } from './review.ts';
import { countRefusal, countRefusedInput, countRound, type Rounds, roundsBefore } from './rounds.ts';
import {
  countOpenProposals,
  findProposal,
  insertProposal,
  type NewProposal,
  type ProposalChange,
  type ProposalRow,
  updateContents,
  updateStatus,
  type Validation,
} from './store.ts';
import { requireOpen, requireProposal, toProposal } from './view.ts';

type Output = z.input<typeof ProposalSchema>;
type Contents = Pick<
  ProposalRow,
  'draft' | 'ops' | 'validation' | 'rounds' | 'status' | 'changes' | 'written_after_reading'
>;
type Before = Pick<ProposalRow, 'draft' | 'ops' | 'workflow_id' | 'changes'>;

/** How often a request starts over because the proposal has changed meanwhile. */
const MAX_ATTEMPTS = 5;
const EMPTY: Draft = { name: 'New workflow', description: '', graph: { steps: [] }, run_setup: {} };

/**
 * POST /v1/autopilot/proposals: creates a proposal to change a workflow or to create one. Changes no workflow. Throws AppError 403
 * `insufficient_scope` without `workflow:read`, 404, 409 `managed_elsewhere`, `workflow_archived`, or `proposal_closed` for the superseded
 * proposal, 422 `limit_reached`, and the errors of editing.
 */
export async function propose(ctx: Context, input: z.output<typeof ProposeInput>): Promise<Output> {
  requireScopes(ctx.principal, ['workflow:read']);
  const id = proposalIdFor(ctx);
  // After a crash an agent's call is repeated, possibly after it has created the proposal.
  const made = ctx.agentCall === undefined ? null : await findProposal(ctx.services.pool, projectScope(ctx), id);
  if (made !== null) return toProposal(ctx, made);
  const { workflow, replaced } = await findTargets(ctx, input).catch(async error => {
    throw await countRefusedInput(ctx, error);
  });
  const base = workflow === null ? EMPTY : withoutPinsOf(draftOf(workflow));
  const rounds = await roundsBefore(ctx, replaced, input.answer);
  const before = { draft: base, ops: [], workflow_id: workflow?.id ?? null, changes: [] };
  const request = { edits: (input.edits ?? []) as Edit[], answer: input.answer, rounds };
  const written_after_reading = await findReadSource(ctx, workflow && { workflow_id: workflow.id, thread_id: null });
  const contents = await computeContents(ctx, before, { ...request, written_after_reading }).catch(async error => {
    throw await countRefusal(ctx, rounds, { id: null, error });
  });
  await insert(ctx, { id, workflow, base, title: input.title, contents, supersedes: input.supersedes });
  return toProposal(ctx, await requireProposal(ctx, id));
}

/** Returns the workflow that a new proposal changes, and the proposal that it replaces. */
async function findTargets(
  ctx: Context,
  { workflow_id: workflowId, supersedes }: z.output<typeof ProposeInput>,
): Promise<{ workflow: WorkflowRow | null; replaced: ProposalRow | null }> {
  const workflow = workflowId === undefined ? null : await requireEditable(ctx, workflowId);
  if (workflow?.status === 'archived') throw archived();
  const replaced = supersedes === undefined ? null : await requireProposal(ctx, supersedes);
  if (replaced !== null) requireMayChange(ctx, replaced);
  return { workflow, replaced };
}

/** Returns the id of a new proposal. A repeated call of an agent gets the same id, so that it creates one proposal. */
function proposalIdFor({ agentCall, principal: { tenantId } }: Context): string {
  if (agentCall === undefined) return newId();
  return derivedId(0, ['proposal', tenantId, agentCall.runId, agentCall.stepId]);
}

type NewContents = {
  id: string;
  workflow: WorkflowRow | null;
  base: Draft;
  title: string;
  contents: Contents;
  supersedes: string | undefined;
};

async function insert(ctx: Context, { id, workflow, base, title, contents, supersedes }: NewContents): Promise<void> {
  const { services, principal } = ctx;
  const scope = projectScope(ctx);
  const at = new Date(services.clock.now());
  const madeIn = await conversationOf(ctx);
  await transact(services.pool, async db => {
    if (supersedes !== undefined) {
      const old = await requireProposal(ctx, supersedes, { db, lock: true });
      requireOpen(old);
      requireMayChange(ctx, old);
      await updateStatus(db, { ...scope, id: old.id, revision: old.revision, at }, 'superseded');
    }
    if ((await countOpenProposals(db, scope)) >= MAX_OPEN_PROPOSALS) {
      throw invalid(
        `A project has at most ${MAX_OPEN_PROPOSALS} open proposals. Apply or discard some.`,
        undefined,
        'limit_reached',
      );
    }
    const about = { id, title, workflowId: workflow?.id ?? null, baseRevision: workflow?.revision ?? null, base };
    await insertProposal(db, scope, { ...about, ...contents, madeIn, createdBy: principal.userId, at });
  });
}

/** Returns the conversation of the proposing agent; null if a person or another client proposes. */
async function conversationOf({ agentCall, principal, services }: Context): Promise<NewProposal['madeIn']> {
  if (agentCall === undefined) return null;
  const { runId } = agentCall;
  const threadId = await findThreadOfRun(services.pool, { tenantId: principal.tenantId, runId });
  return threadId === null ? null : { threadId, messageId: runId };
}

/**
 * POST /v1/autopilot/proposals/{id}/edits: applies all edits to the proposal, or none, and validates the result. Throws AppError 403, 404,
 * 409 `proposal_closed`, `needs_input` or `busy`, 422 `edit_not_applicable`, `limit_reached`, or if the result is no valid draft.
 */
export async function editProposal(ctx: Context, input: z.output<typeof EditProposalInput>): Promise<Output> {
  requireScopes(ctx.principal, ['workflow:read']);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const row = await requireChangeable(ctx, input.id);
    const rounds = await roundsBefore(ctx, row, input.answer);
    const written_after_reading = row.written_after_reading ?? (await findReadSource(ctx, row));
    const request = { edits: input.edits as Edit[], answer: input.answer, rounds, written_after_reading };
    const contents = await computeContents(ctx, row, request).catch(async error => {
      throw await countRefusal(ctx, rounds, { id: row.id, error });
    });
    const at = new Date(ctx.services.clock.now());
    const where = { ...projectScope(ctx), id: row.id, revision: row.revision, at };
    if (await updateContents(ctx.services.pool, where, contents)) {
      return toProposal(ctx, await requireProposal(ctx, input.id));
    }
  }
  throw conflict('busy', 'Others are changing the proposal at this moment. Try again.');
}

/** Returns the open proposal that the caller may change. An agent's refused request counts as a round. */
async function requireChangeable(ctx: Context, id: string): Promise<ProposalRow> {
  try {
    const row = await requireProposal(ctx, id);
    requireOpen(row);
    requireMayChange(ctx, row);
    return row;
  } catch (error) {
    throw await countRefusedInput(ctx, error);
  }
}

/** POST /v1/autopilot/proposals/{id}/discard: closes the proposal. Throws AppError 403, 404, 409 `proposal_closed` for an applied proposal. */
export async function discardProposal(ctx: Context, { id }: z.output<typeof ProposalRef>): Promise<Output> {
  requireScopes(ctx.principal, ['workflow:read']);
  const at = new Date(ctx.services.clock.now());
  await transact(ctx.services.pool, async db => {
    const row = await requireProposal(ctx, id, { db, lock: true });
    // A proposal with one of these statuses is closed already, so discarding it is idempotent.
    if (['discarded', 'superseded', 'undone'].includes(row.status)) return;
    requireOpen(row);
    requireMayChange(ctx, row);
    await updateStatus(db, { ...projectScope(ctx), id, revision: row.revision, at }, 'discarded');
  });
  return toProposal(ctx, await requireProposal(ctx, id));
}

type Request = {
  edits: readonly Edit[];
  answer: string | undefined;
  rounds: Rounds;
  written_after_reading: string | null;
};

/** Removes pinned results, because they may hold personal data. Applying a proposal leaves them in the draft. */
const withoutPinsOf = (draft: Draft): Draft => ({ ...draft, run_setup: withoutPins(draft.run_setup) as Fields });

/** Returns the contents of the proposal after these edits. */
async function computeContents(
  ctx: Context,
  before: Before,
  { edits, answer, rounds: counted, written_after_reading }: Request,
): Promise<Contents> {
  const ops = [...before.ops, ...edits];
  requireWithinLimits(ops);
  acceptEdits(edits);
  const draft = withoutPinsOf(applyEdits(before.draft, edits).draft);
  const { graph, run_setup: runSetup } = draft;
  acceptDraft({ graph, runSetup });
  const validation = await check(ctx, draft, before.workflow_id);
  const rounds = await countRound(ctx, counted, validation.valid || edits.length === 0);
  const changes = withChange(ctx, before.changes, { edits: edits.length, answer: answer ?? null });
  return { draft, ops, validation, rounds, status: statusOf(validation, rounds), changes, written_after_reading };
}

/** Adds a change to the history. Consecutive requests of the same author are one change. */
function withChange(
  { agentCall, principal, services }: Context,
  changes: readonly ProposalChange[],
  { edits, answer }: Pick<ProposalChange, 'edits' | 'answer'>,
): ProposalChange[] {
  const { email: by, role } = principal;
  const at = isoTimestamp(services.clock.now());
  const change = { by, by_agent: agentCall !== undefined, edits, at, answer, role };
  const last = changes.at(-1);
  const isSame = last?.by === by && last.by_agent === change.by_agent && last.role === role && answer === null;
  if (!isSame) return [...changes, change];
  return [...changes.slice(0, -1), { ...last, edits: last.edits + edits, at }];
}

function statusOf({ valid }: Validation, rounds: number): ProposalStatus {
  if (valid) return 'ready';
  return rounds >= MAX_ROUNDS ? 'needs_input' : 'building';
}

function requireWithinLimits(ops: readonly Edit[]): void {
  if (ops.length > MAX_PROPOSAL_EDITS) {
    const message = `A proposal has at most ${MAX_PROPOSAL_EDITS} edits. Apply it, and continue in another one.`;
    throw invalid(message, undefined, 'limit_reached');
  }
  if (Buffer.byteLength(JSON.stringify(ops)) > MAX_PROPOSAL_BYTES) {
    throw invalid('The edits of a proposal take at most 4 MiB as JSON.', undefined, 'limit_reached');
  }
}

/** Validates the draft as publishing it would. */
function check(ctx: Context, draft: Draft, workflowId: string | null): Promise<Validation> {
  return validateDraft(ctx.services, partsOfRow(draft), {
    ...projectScope(ctx),
    ...(workflowId !== null && { workflowId }),
  });
}
