import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { invalid } from '../../platform/errors.ts';
import { acceptDraft } from '../workflows/draft.ts';
import { validateDraft } from '../workflows/validate.ts';
import { projectScope } from '../workflows/view.ts';
import type { AgentReport, ValidateAgentInput } from './schemas.ts';
import { type AgentSettings, changeSettings, graphOf } from './settings.ts';
import { requireAgent } from './view.ts';

type Report = z.output<typeof AgentReport>;

/** POST /v1/agents/{id}/validate: checks the agent with these settings as saving would. Saves nothing. Throws AppError 404. */
export async function validateAgent(
  ctx: Context,
  { id, ...changes }: z.output<typeof ValidateAgentInput>,
): Promise<Report> {
  const { settings } = await requireAgent(ctx, id);
  return reportOn(ctx, id, changeSettings(settings, changes));
}

/** Checks settings as publishing a workflow with this step would. The paths name fields of the agent. */
async function reportOn(ctx: Context, id: string, settings: AgentSettings): Promise<Report> {
  const graph = graphOf(settings);
  acceptDraft({ graph });
  const scope = { ...projectScope(ctx), workflowId: id };
  const { valid, errors, warnings } = await validateDraft(ctx.services, { graph, runSetup: {} }, scope);
  const withoutStep = (problems: Report['errors']) => problems.map(problem => ({ ...problem, step_id: null }));
  return { valid, errors: withoutStep(errors), warnings: withoutStep(warnings) };
}

/** Throws AppError 422 `invalid_agent` with the problems, unless the settings can be published. */
export async function requireValid(ctx: Context, id: string, settings: AgentSettings): Promise<void> {
  const { valid, errors } = await reportOn(ctx, id, settings);
  if (valid) return;
  const details = errors.map(({ path, message, code }) => ({ path, message, code }));
  throw invalid('The settings of the agent are not valid.', details, 'invalid_agent');
}
