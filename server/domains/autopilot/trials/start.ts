import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { compile, type Graph, type GraphStep, type JsonMap } from '../../../orchestrator/core/index.ts';
import { hasTemplate } from '../../../orchestrator/languages/templates.ts';
import { CREDIT } from '../../../orchestrator/ports/microcredits.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { AppError, conflict, type ErrorDetail, forbidden, invalid, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { requireBudget } from '../../chat/budget.ts';
import { actorOf, carriedScopes, requireScopes } from '../../identity/authority.ts';
import { findOffer } from '../../mcp-servers/calls/binding.ts';
import { requireRun } from '../../runs/access/find.ts';
import { callersTrace } from '../../runs/start/command.ts';
import { startRun } from '../../runs/start/start.ts';
import { readRun, storeSnapshot } from '../../runs/test-runs/test-run.ts';
import { partsOfRow } from '../../workflows/apply-edits.ts';
import { checksum } from '../../workflows/checksum.ts';
import { toDetails } from '../../workflows/problems.ts';
import { insertWorkflow, type RunSetup } from '../../workflows/store.ts';
import { validateDraft } from '../../workflows/validate.ts';
import { projectScope } from '../../workflows/view.ts';
import { findReadSource } from '../proposals/read-source.ts';
import { requireReviewed } from '../proposals/review.ts';
import { type ProposalRow, recordSeen, updateTrial } from '../proposals/store.ts';
import { requireOpen, requireProposal } from '../proposals/view.ts';
import type { TrialSchema, TryLiveInput, TryProposalInput } from '../schemas.ts';
import { hostsOf, requireHosts } from './hosts.ts';
import { toTrial } from './read.ts';
import { recordedResults } from './recorded.ts';
import { type TrialGraph, withStandIns } from './stand-ins.ts';

type Input = z.output<typeof TryProposalInput>;

/** The maximum number of digests of seen requests that a proposal stores. */
const MAX_SEEN_REQUESTS = 2_000;

/**
 * POST /v1/autopilot/proposals/{id}/trial: starts a run of the proposal that writes nothing, sends nothing and asks no person.
 * Throws AppError 403 `insufficient_scope`, 404, 409 `proposal_closed` or `run_not_ended`, 422 `invalid_graph`, `unknown_step`,
 * `rerun_too_large`, and the errors of any start.
 */
export async function tryProposal(ctx: Context, input: Input): Promise<z.input<typeof TrialSchema>> {
  requireScopes(ctx.principal, ['workflow:read']);
  const row = await requireProposal(ctx, input.id);
  requireOpen(row);
  return startTrial(ctx, row, input, null);
}

/**
 * POST /v1/autopilot/proposals/{id}/live-trial: starts a trial that executes steps which the last trial replaced. A contributor has agreed to
 * these steps and sets a budget, above which the run is stopped. Throws AppError 403 `person_needed`, 409 `trial_needed` if the proposal
 * has changed since the last trial, 412 or 428 unless the request names the current state, 422 `unknown_step` for a step that was not replaced,
 * `host_not_named`, `host_unknown`, and the errors of `tryProposal`.
 */
export async function startLiveTrial(
  ctx: Context,
  { really, budget_credits, hosts, etag, ...input }: z.output<typeof TryLiveInput>,
): Promise<z.input<typeof TrialSchema>> {
  requireScopes(ctx.principal, ['workflow:read', 'workflow:run']);
  const row = await requireProposal(ctx, input.id);
  requireOpen(row);
  requireReviewed(ctx, row, etag);
  await requirePerson(ctx, row);
  if (row.trial?.edits !== row.edits)
    throw conflict(
      'trial_needed',
      'Try the proposal first: a live trial can execute only steps that a trial has replaced.',
    );
  const { stand_ins: standIns, live } = row.trial;
  // Steps that the last live trial executed can be executed again without another trial.
  const known = new Set([...standIns, ...(live?.executed ?? [])].map(({ step }) => step));
  const details = really.flatMap((step, at): ErrorDetail[] =>
    known.has(step) ? [] : [{ path: `really[${at}]`, message: 'is not among what the last trial has replaced' }],
  );
  if (details.length > 0) throw invalid('These steps were not replaced.', details, 'unknown_step');
  return startTrial(ctx, row, input, { steps: really, budgetCredits: budget_credits, hosts });
}

type LiveTrial = { steps: readonly string[]; budgetCredits: number; hosts: readonly string[] };

/** Throws AppError 403 `person_needed` if a model starts a live trial of text that a model wrote after reading private or outside text. */
async function requirePerson(ctx: Context, row: ProposalRow): Promise<void> {
  const isModel = ctx.agentCall !== undefined || ctx.surface === 'mcp';
  if (!isModel || (await findTrialSource(ctx, row)) === null) return;
  throw forbidden(
    'A person has to see these requests: try the proposal for real in the console or by REST.',
    'person_needed',
  );
}

/** Returns a source that a model read before it wrote the proposal or asked for this trial; null if no model read any. */
const findTrialSource = async (ctx: Context, row: ProposalRow): Promise<string | null> =>
  row.written_after_reading ?? (await findReadSource(ctx, row));

async function startTrial(
  ctx: Context,
  row: ProposalRow,
  input: Input,
  live: LiveTrial | null,
): Promise<z.input<typeof TrialSchema>> {
  const { graph } = partsOfRow(row.draft);
  await requireBudget(ctx.services, ctx.principal);
  await requireRunnable(ctx, row, graph);
  requireKnownSteps(input.checks, graph);
  const continued = await continuedRun(ctx, row, input, graph);
  const { graph: replaced, standIns, executed, seen } = await buildTrialGraph(ctx, row, graph, live);
  // A continued run provides the results of these steps.
  const isExecuted = ({ step }: { step: string }) => continued?.seeded.has(step) !== true;
  if (live !== null) requireHosts(executed.filter(isExecuted), live.hosts);
  const workflowId = row.trial_workflow_id ?? (await createHidden(ctx, row));
  const params = {
    ...continued?.params,
    ...(input.input !== undefined && { trigger_payload: input.input as JsonMap }),
  };
  const started = await startTrialRun(ctx, workflowId, { graph: replaced, runSetup: setupOf(row), params, live });
  const trial = {
    ...started,
    edits: row.edits,
    checks: input.checks,
    stand_ins: standIns.filter(isExecuted),
    from_run: input.from_run ?? null,
    from_step: input.from_step ?? null,
    started_by: ctx.principal.email,
    started_at: isoTimestamp(ctx.services.clock.now()),
    ended: null,
    live: live && {
      really: [...live.steps],
      budget_credits: live.budgetCredits,
      executed: executed.filter(isExecuted),
    },
  };
  const requests = [...new Set([...row.seen_requests, ...seen])].slice(-MAX_SEEN_REQUESTS);
  if (seen.length > 0) await recordSeen(ctx.services.pool, { ...projectScope(ctx), id: row.id }, requests);
  await updateTrial(ctx.services.pool, { ...projectScope(ctx), id: row.id }, { workflowId, trial });
  return toTrial(ctx, await requireProposal(ctx, row.id));
}

async function requireRunnable(ctx: Context, row: ProposalRow, graph: Graph): Promise<void> {
  const scope = { ...projectScope(ctx), ...(row.workflow_id !== null && { workflowId: row.workflow_id }) };
  const report = await validateDraft(ctx.services, { graph, runSetup: {} }, scope);
  if (!report.valid) throw invalid('The proposal cannot run.', toDetails(report.errors), 'invalid_graph');
}

function requireKnownSteps(checks: Input['checks'], { steps }: Graph): void {
  const known = new Set(steps.map(({ id }) => id));
  const details = checks.flatMap(({ step }, at): ErrorDetail[] =>
    known.has(step) ? [] : [{ path: `checks[${at}].step`, message: 'is not a step of the proposal' }],
  );
  if (details.length > 0) throw invalid('These steps cannot be checked.', details, 'unknown_step');
}

async function buildTrialGraph(
  ctx: Context,
  row: ProposalRow,
  graph: Graph,
  live: LiveTrial | null,
): Promise<TrialGraph> {
  const { services, principal } = ctx;
  const scope = projectScope(ctx);
  return withStandIns(graph, {
    types: services.stepTypes,
    toolOf: step => toolOf(ctx, step),
    live: live && { steps: new Set(live.steps), budgetCredits: live.budgetCredits },
    maySend: [principal, ...row.changes].every(({ role }) => role !== 'project_viewer'),
    hostsOf: step => hostsOf(ctx, step, services.stepTypes.get(step.type)?.trial),
    seen: (await findTrialSource(ctx, row)) === null ? null : new Set(row.seen_requests),
    recorded: await recordedResults(services.pool, scope, row.workflow_id),
    now: isoTimestamp(services.clock.now()),
  });
}

/** Returns the tool of a step; undefined if only the run decides the instance or the tool. */
async function toolOf(ctx: Context, { instance_id, tool_name }: GraphStep): Promise<McpTool | undefined> {
  if (typeof instance_id !== 'string' || typeof tool_name !== 'string') return undefined;
  if (hasTemplate(instance_id) || hasTemplate(tool_name)) return undefined;
  try {
    const { tools } = await findOffer(ctx.services, { ...projectScope(ctx), instanceId: instance_id });
    return tools.find(({ name }) => name === tool_name);
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined;
    throw error;
  }
}

/** Creates the hidden workflow of a proposal's trials. Its draft stays empty, because the runs execute snapshots. */
async function createHidden(ctx: Context, { title }: ProposalRow): Promise<string> {
  const graph = { steps: [] };
  const contents = { name: title, description: '', graph, runSetup: {}, graphChecksum: checksum(graph) };
  const { prisma, clock } = ctx.services;
  const made = { kind: 'trial' as const, createdBy: ctx.principal.userId, at: new Date(clock.now()) };
  const { id } = await insertWorkflow(prisma, { id: newId(), scope: projectScope(ctx), ...contents, ...made });
  return id;
}

/**
 * Returns the fields of the run setup that a trial uses. Overrides of steps are left out, because stand-ins may replace
 * the steps.
 */
function setupOf({ draft }: ProposalRow): RunSetup {
  const { trigger_payload, use_as_default } = draft.run_setup as RunSetup;
  return { ...(trigger_payload && { trigger_payload }), ...(use_as_default !== undefined && { use_as_default }) };
}

/** Returns the params of a trial that continues a run, and the steps that keep their results; null if the trial continues no run. */
async function continuedRun(
  ctx: Context,
  { workflow_id }: ProposalRow,
  { from_run, from_step }: Input,
  graph: Graph,
): Promise<{ params: JsonMap; seeded: ReadonlySet<string> } | null> {
  if (from_run === undefined && from_step === undefined) return null;
  if (from_run === undefined || from_step === undefined) {
    const [given, missing] = from_run === undefined ? ['from_step', 'from_run'] : ['from_run', 'from_step'];
    throw invalid('A trial that continues a run needs both the run and the step.', [
      { path: missing, message: `is needed with \`${given}\`` },
    ]);
  }
  if (!graph.steps.some(({ id }) => id === from_step)) {
    const detail = { path: 'from_step', message: 'is not a step of the proposal' };
    throw invalid('The proposal has no such step.', [detail], 'unknown_step');
  }
  if (workflow_id === null) throw notFound('Run');
  const ref = { id: workflow_id, runID: from_run };
  const { ended_at } = await requireRun(ctx, ref);
  if (ended_at === null) throw conflict('run_not_ended', 'Only a run that has ended can be continued.');
  const compiled = compile(graph);
  const kept = compiled.order.filter(id => id !== from_step && !compiled.ancestors(id).has(from_step));
  const { input, results } = await readRun(ctx, ref, new Set(kept));
  const params = {
    trigger_payload: input,
    mode: 'episode',
    trigger_steps: Object.fromEntries([[from_step, {}]]),
    seed_results: results,
  };
  return { params, seeded: new Set(Object.keys(results)) };
}

type Start = { graph: Graph; runSetup: RunSetup; params: JsonMap; live: LiveTrial | null };

async function startTrialRun(
  ctx: Context,
  workflowId: string,
  { graph, runSetup, params, live }: Start,
): Promise<{ run_id: string; version: number }> {
  const { services, principal } = ctx;
  const version = await storeSnapshot(ctx, workflowId, { graph, runSetup });
  const run = { ...projectScope(ctx), workflowId, runId: newId() };
  const { runId } = await startRun(services, {
    ...run,
    params,
    defaultTriggerType: 'test',
    // A model may have written the input after it had read private or outside text.
    outsideInput: 'given for a trial',
    privateInput: 'given for a trial',
    startedBy: principal.email,
    carried: [carriedScopes(principal)],
    actsFor: actorOf(principal),
    spending: {
      spends_for: principal.userId,
      ...(live && { budget: Math.round(live.budgetCredits * CREDIT) }),
    },
    snapshot: { version, runSetup: runSetup as JsonMap },
    ...callersTrace(ctx),
  });
  return { run_id: runId, version };
}
