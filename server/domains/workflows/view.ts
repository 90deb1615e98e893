import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import type { VersionSchema, WorkflowSchema } from './schemas.ts';
import type { ProjectScope, WorkflowRow } from './store.ts';
import type { VersionRow } from './versions/queries.ts';

/** Returns the project of the request, to which these routes are limited. */
export function projectScope(ctx: Context): ProjectScope {
  return { tenantId: ctx.principal.tenantId, projectId: ctx.principal.projectId };
}

export function etagOf(row: { revision: number }): string {
  return `"${row.revision}"`;
}

/** Returns a workflow in the form that every surface shows. */
function toWorkflow(row: WorkflowRow): z.input<typeof WorkflowSchema> {
  return { ...toWorkflowHead(row), graph: row.graph, run_setup: row.runSetup };
}

/** Returns a workflow without the fields that may be large. */
export function toWorkflowHead(
  row: Omit<WorkflowRow, 'graph' | 'runSetup'>,
): Omit<z.input<typeof WorkflowSchema>, 'graph' | 'run_setup'> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tenant_id: row.tenantId,
    project_id: row.projectId,
    status: row.status,
    kind: row.kind,
    folder: row.folder,
    tags: row.tags,
    latest_version: row.latestVersion,
    graph_checksum: row.graphChecksum,
    etag: etagOf(row),
    created_at: isoTimestamp(row.createdAt.getTime()),
    updated_at: isoTimestamp(row.updatedAt.getTime()),
  };
}

/** Returns a workflow, and sets the ETag header of the response. */
export function answerWorkflow(ctx: Context, row: WorkflowRow): z.input<typeof WorkflowSchema> {
  ctx.responseHeaders.set('ETag', etagOf(row));
  return toWorkflow(row);
}

export function toVersion(row: VersionRow): z.input<typeof VersionSchema> {
  return {
    version: row.version,
    workflow_id: row.workflow_id,
    published_at: isoTimestamp(row.published_at.getTime()),
    published_by: row.published_by,
    changelog: row.changelog,
    graph_checksum: row.graph_checksum,
    graph_snapshot: row.graph_snapshot,
    run_setup: row.run_setup,
  };
}
