import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { listWorkflows as selectPage } from './queries.ts';
import type { ListWorkflowsInput, ListWorkflowsOutput } from './schemas.ts';
import { projectScope, toWorkflowHead } from './view.ts';

/** Returns the project's workflows, newest first; archived ones only with `status=archived`. */
export async function listWorkflows(
  ctx: Context,
  input: z.output<typeof ListWorkflowsInput>,
): Promise<z.input<typeof ListWorkflowsOutput>> {
  const key = decodeCursor(TimeIdKey, input.cursor);
  const rows = await selectPage(ctx.services.pool, projectScope(ctx), {
    kind: input.kind,
    status: input.status,
    q: input.q === '' ? undefined : input.q,
    // The top folder contains every workflow.
    folder: input.folder === '' ? undefined : input.folder,
    tags: input.tags,
    after: key && { at: new Date(key[0]), id: key[1] },
    limit: input.limit + 1,
    graphs: input.graphs,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.id]);
  return {
    workflows: page.rows.map(row => ({
      ...toWorkflowHead(row),
      ...(row.graph !== null && row.runSetup !== null && { graph: row.graph, run_setup: row.runSetup }),
      steps_total: row.stepsTotal,
      recent_runs: row.recentRuns,
      unpublished_changes: row.unpublishedChanges,
    })),
    next_cursor: page.next_cursor,
  };
}
