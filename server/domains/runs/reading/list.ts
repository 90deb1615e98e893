import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { readFieldFilter } from '../../../orchestrator/core/searchable.ts';
import { requireWorkflow } from '../../workflows/get.ts';
import { visibleProjects } from '../access/visibility.ts';
import { listRuns } from '../store.ts';
import { toRun } from '../view.ts';
import { namesOfFailedSteps } from './failed-steps.ts';
import type { ListRunsOutput, ListTenantRunsInput, ListWorkflowRunsInput } from './schemas.ts';

/** Runs of all projects of the tenant that the user can see, newest first. */
export async function listTenantRuns(
  ctx: Context,
  input: z.output<typeof ListTenantRunsInput>,
): Promise<z.input<typeof ListRunsOutput>> {
  return listPage(ctx, await visibleProjects(ctx), input);
}

/** Runs of one workflow, archived or not, newest first. */
export async function listWorkflowRuns(
  ctx: Context,
  input: z.output<typeof ListWorkflowRunsInput>,
): Promise<z.input<typeof ListRunsOutput>> {
  const { id, ...filters } = input;
  const workflow = await requireWorkflow(ctx, id);
  return listPage(ctx, [workflow.projectId], { ...filters, workflow_id: id, kind: workflow.kind });
}

async function listPage(
  ctx: Context,
  projectIds: string[],
  input: z.output<typeof ListTenantRunsInput>,
): Promise<z.input<typeof ListRunsOutput>> {
  const key = decodeCursor(TimeIdKey, input.cursor);
  const rows = await listRuns(ctx.services.pool, ctx.principal.tenantId, projectIds, {
    workflowId: input.workflow_id,
    kind: input.kind,
    status: input.status,
    test: input.test === undefined || input.test === 'reruns' ? input.test : input.test === 'true',
    from: input.from === undefined ? undefined : new Date(input.from),
    to: input.to === undefined ? undefined : new Date(input.to),
    q: input.q === '' ? undefined : input.q,
    field: input.field === undefined ? null : readFieldFilter(input.field),
    after: key && { at: new Date(key[0]), id: key[1] },
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.started_at.getTime(), row.id]);
  const names = await namesOfFailedSteps(ctx.services.pool, ctx.principal.tenantId, page.rows);
  return {
    runs: page.rows.map(row => ({
      ...toRun(row),
      search_values: row.search_values ?? {},
      failed_step_name: names.get(row.id) ?? null,
    })),
    next_cursor: page.next_cursor,
  };
}
