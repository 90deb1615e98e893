import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import type { Graph } from '../../orchestrator/core/graph.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import type { CheckScope } from '../../orchestrator/ports/step-type.ts';
import {
  type GraphProblem,
  type GraphReport,
  oversizedOverrides,
  ProblemList,
  validateGraph,
  validateOverrides,
} from '../../orchestrator/validation/index.ts';
import { failureHandlerProblems } from './failure-handler.ts';
import { requireWorkflow } from './get.ts';
import { toolNameWarnings } from './published-tools.ts';
import type { ValidateInput, ValidationReport } from './schemas.ts';
import { projectScope } from './view.ts';

/** Returns the problems that publishing would find in the draft, or in the given graph. Saves nothing. */
export async function validate(
  ctx: Context,
  input: z.output<typeof ValidateInput>,
): Promise<z.input<typeof ValidationReport>> {
  const workflow = await requireWorkflow(ctx, input.id);
  const graph = input.graph === undefined ? workflow.graph : (input.graph as Graph);
  const scope = { ...projectScope(ctx), workflowId: input.id };
  return validateDraft(ctx.services, { graph, runSetup: workflow.runSetup, name: workflow.name }, scope);
}

function addProblems(
  report: GraphReport,
  errors: readonly GraphProblem[],
  warnings: readonly GraphProblem[],
): GraphReport {
  return {
    valid: report.valid && errors.length === 0,
    errors: [...report.errors, ...errors],
    warnings: [...report.warnings, ...warnings],
  };
}

/**
 * Checks a graph and, if it is valid, the overrides of its run setup. A field that does not fit is an error. A step
 * that the graph does not have is only a warning, because the setup may be ahead of the graph. A start that uses these
 * overrides would be refused in both cases.
 */
export async function validateDraft(
  services: Pick<Services, 'stepTypes' | 'prisma' | 'pool'>,
  draft: { graph: Graph; runSetup: { trigger_steps?: unknown }; name?: string },
  scope: CheckScope,
): Promise<GraphReport> {
  const { stepTypes } = services;
  const found = await validateGraph(draft.graph, stepTypes, scope);
  const report = addProblems(
    found,
    await failureHandlerProblems(services.prisma, draft.graph, scope),
    found.valid ? await toolNameWarnings(services, { graph: draft.graph, name: draft.name ?? '' }, scope) : [],
  );
  const overrides = (draft.runSetup.trigger_steps ?? {}) as Record<string, JsonMap>;
  if (!report.valid || Object.keys(overrides).length === 0) return report;
  const steps = new Set(draft.graph.steps.map(({ id }) => id));
  const warnings = new ProblemList();
  for (const step of Object.keys(overrides)) {
    if (steps.has(step)) continue;
    const message = `there is no step "${step.slice(0, 80)}"`;
    warnings.push({ step_id: null, path: `run_setup.trigger_steps.${step}`, code: 'unknown_step', message });
  }
  const errors = new ProblemList();
  const oversized = oversizedOverrides(overrides);
  for (const { step, message } of oversized) {
    errors.push({ step_id: step, path: `run_setup.trigger_steps.${step}`, code: 'too_many_fields', message });
  }
  const checked = oversized.length > 0 ? {} : overrides;
  for (const problem of await validateOverrides(draft.graph, checked, stepTypes, scope)) {
    errors.push({ ...problem, path: `run_setup.trigger_steps.${problem.step_id ?? ''}.${problem.path}` });
  }
  return {
    valid: errors.count === 0,
    errors: errors.toReport(),
    warnings: [...report.warnings, ...warnings.toReport()],
  };
}
