import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { allSteps, type GraphStep } from '../../../orchestrator/core/index.ts';
import { placesNaming } from '../../../orchestrator/steps/references.ts';
import { MAX_STEPS } from '../../../orchestrator/validation/index.ts';
import { invalid } from '../../../platform/errors.ts';
import { isId } from '../../../platform/ids.ts';
import { maySend } from '../../connections/origins.ts';
import { requireWorkflow } from '../../workflows/get.ts';
import type { Resolution, ResolveInput, ResolveOutput } from '../schemas.ts';
import { type BindingRow, findBindings, findOffers, type OfferRow } from './queries.ts';

/** The types whose steps call a tool of the instance that they name. */
const callingTypes = new Set(placesNaming('instances').flatMap(({ type, list }) => (list === undefined ? [type] : [])));

type Step = { id: string; toolName: string | null; instanceId: string | null };
type Problem = z.output<typeof Resolution>['problems'][number];

/**
 * Returns what each step that calls a tool would call now: the instance, server, version and connection. Adds its
 * problems, and the instances of the project that offer its tool if its own does not. Calls nothing. Throws AppError 404 for a
 * workflow that does not exist, 422 unless exactly one of `workflow_id` and `graph` is given.
 */
export async function resolveInstances(
  ctx: Context,
  input: z.output<typeof ResolveInput>,
): Promise<z.input<typeof ResolveOutput>> {
  const { pool } = ctx.services;
  const { tenantId, projectId } = ctx.principal;
  const steps = await stepsOf(ctx, input);
  const ids = new Set(
    steps.flatMap(step => (step.instanceId !== null && isId(step.instanceId) ? [step.instanceId] : [])),
  );
  const rows = ids.size === 0 ? [] : await findBindings(pool, { tenantId, projectId }, [...ids]);
  const bindings = new Map(rows.map(row => [row.id, row]));
  const found = steps.map(step => {
    const binding = step.instanceId === null ? undefined : bindings.get(step.instanceId);
    return { step, binding, problems: problemsOf(step, binding) };
  });
  const lost = found.flatMap(({ step, problems }) =>
    step.toolName !== null && needsAnother(problems) ? [step.toolName] : [],
  );
  const offers = lost.length === 0 ? [] : await findOffers(pool, { tenantId, projectId }, [...new Set(lost)]);
  const resolved = found.map(({ step, binding, problems }) => toResolution(step, binding, problems, offers));
  return { valid: resolved.every(step => step.ok), steps: resolved };
}

async function stepsOf(ctx: Context, { workflow_id, graph }: z.output<typeof ResolveInput>): Promise<Step[]> {
  if ((workflow_id === undefined) === (graph === undefined)) {
    throw invalid('Give either workflow_id or graph.', [{ path: 'workflow_id', message: 'or graph, one of the two' }]);
  }
  const given = workflow_id === undefined ? graph?.steps : (await requireWorkflow(ctx, workflow_id)).graph.steps;
  const all = allSteps({ steps: (given ?? []) as GraphStep[] });
  const steps = all.filter(({ type }) => callingTypes.has(type));
  // The limit also applies to a graph that was never saved.
  if (steps.length > MAX_STEPS) {
    throw invalid('The graph has too many steps.', [{ path: 'graph.steps', message: `must be at most ${MAX_STEPS}` }]);
  }
  return steps.map(step => ({ id: step.id, toolName: text(step.tool_name), instanceId: text(step.instance_id) }));
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

function problemsOf(step: Step, binding: BindingRow | undefined): Problem[] {
  const problems: Problem[] = [];
  const problem = (code: string, message: string) => problems.push({ code, message });
  if (step.toolName === null) problem('missing_tool', 'The step names no tool.');
  if (step.instanceId === null) problem('missing_instance', 'The step names no instance.');
  else if (binding === undefined) problem('unknown_instance', 'The project has no such instance.');
  if (binding === undefined) return problems;
  if (binding.version === null || binding.server_status !== 'published') {
    problem('mcp_server_not_published', `“${binding.server_name}” has no published version at its current address.`);
  } else if (step.toolName !== null && !binding.tools.some(tool => tool.name === step.toolName)) {
    problem('unknown_tool', `Version ${binding.version} of “${binding.server_name}” has no tool “${step.toolName}”.`);
  }
  if (binding.auth_mode !== 'none' && binding.connection_id === null) {
    problem('missing_connection', `“${binding.server_name}” needs credentials, and no connection is bound.`);
  }
  if (binding.connection_status !== null && binding.connection_status !== 'active') {
    problem('connection_not_active', `The connection “${binding.connection_name}” is ${binding.connection_status}.`);
  }
  const { connection_origins: origins } = binding;
  if (binding.auth_mode !== 'none' && origins !== null && !maySend(origins, binding.canonical_url)) {
    const message = `The credentials of “${binding.connection_name}” may not be sent to “${binding.server_name}”.`;
    problem('credential_origin_refused', message);
  }
  return problems;
}

/** Returns whether another instance would help, which it does not if only the connection is wrong. */
function needsAnother(problems: readonly Problem[]): boolean {
  const codes = ['missing_instance', 'unknown_instance', 'unknown_tool', 'mcp_server_not_published'];
  return problems.some(({ code }) => codes.includes(code));
}

function toResolution(
  step: Step,
  binding: BindingRow | undefined,
  problems: Problem[],
  offers: readonly OfferRow[],
): z.input<typeof Resolution> {
  const suggestions = needsAnother(problems)
    ? offers.filter(offer => offer.tool_name === step.toolName && offer.instance_id !== step.instanceId)
    : [];
  return {
    step_id: step.id,
    tool_name: step.toolName,
    instance_id: step.instanceId,
    instance: pair(binding?.id, binding?.name),
    server:
      binding === undefined
        ? null
        : { id: binding.server_id, name: binding.server_name, service: binding.server_service },
    version: binding?.version ?? null,
    profile: pair(binding?.profile_id, binding?.profile_name),
    connection:
      binding?.connection_id == null
        ? null
        : {
            id: binding.connection_id,
            name: binding.connection_name ?? '',
            status: binding.connection_status ?? '',
          },
    ok: problems.length === 0,
    problems,
    suggestions: suggestions.map(({ instance_id, name, server_name }) => ({ instance_id, name, server_name })),
  };
}

function pair(id: string | null | undefined, name: string | null | undefined): { id: string; name: string } | null {
  return id == null || name == null ? null : { id, name };
}
