import type { z } from 'zod';
import { DEFAULT_KIND, type WorkflowKind } from '../../operation/workflow-kinds.ts';
import type { Graph } from '../../orchestrator/core/graph.ts';
import type { Workflow } from '../../platform/postgres/generated/client.ts';
import { exactJson } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { RunSetupSchema, WorkflowStatus } from './schemas.ts';

export type RunSetup = z.output<typeof RunSetupSchema>;
export type WorkflowState = z.output<typeof WorkflowStatus>;

/** The project in which a workflow must be for the caller to see it. */
export type ProjectScope = { tenantId: string; projectId: string };

export type WorkflowRow = Omit<Workflow, 'status' | 'kind' | 'graph' | 'runSetup'> & {
  status: WorkflowState;
  kind: WorkflowKind;
  graph: Graph;
  runSetup: RunSetup;
};

type Models = Pick<Transaction, 'workflow'>;

function toRow({ status, kind, graph, runSetup, ...row }: Workflow): WorkflowRow {
  // The stored values were checked before they were saved.
  return {
    ...row,
    status: status as WorkflowState,
    kind: kind as WorkflowKind,
    graph: graph as Graph,
    runSetup: runSetup as RunSetup,
  };
}

/** Inserts a draft. */
export async function insertWorkflow(
  prisma: Models,
  row: {
    id: string;
    scope: ProjectScope;
    name: string;
    description: string;
    graph: unknown;
    runSetup: unknown;
    graphChecksum: string;
    createdBy: string;
    at: Date;
    /** Default: the kind that people edit. */
    kind?: WorkflowKind;
    folder?: string | undefined;
    tags?: string[] | undefined;
  },
): Promise<WorkflowRow> {
  const { id, scope, name, description, graph, runSetup, graphChecksum, createdBy, at, kind = DEFAULT_KIND } = row;
  const { folder = '', tags = [] } = row;
  const { tenantId, projectId } = scope;
  const inserted = await prisma.workflow.create({
    data: {
      id,
      tenantId,
      projectId,
      name,
      description,
      status: 'draft',
      graph: exactJson(graph),
      runSetup: exactJson(runSetup),
      revision: 1,
      graphChecksum,
      kind,
      folder,
      tags,
      createdBy,
      createdAt: at,
      updatedAt: at,
    },
  });
  return toRow(inserted);
}

/** Returns the workflow, or null if this project has none with this id. */
export async function findWorkflow(
  prisma: Models,
  { tenantId, projectId }: ProjectScope,
  id: string,
): Promise<WorkflowRow | null> {
  const row = await prisma.workflow.findFirst({ where: { id, tenantId, projectId } });
  return row && toRow(row);
}

export type DraftChange = {
  name?: string | undefined;
  description?: string | undefined;
  graph?: { value: unknown; checksum: string } | undefined;
  runSetup?: unknown;
};

/**
 * Changes the draft in one statement. Returns null if the workflow does not exist, is of another kind, is archived, or
 * is no longer at `revision`; the caller finds out which.
 */
export async function updateDraft(
  prisma: Models,
  ref: ProjectScope & { id: string; kind: WorkflowKind; revision: number | null; at: Date },
  { name, description, graph, runSetup }: DraftChange,
): Promise<WorkflowRow | null> {
  const { id, tenantId, projectId, kind, revision, at } = ref;
  const [row] = await prisma.workflow.updateManyAndReturn({
    where: { id, tenantId, projectId, kind, status: { not: 'archived' }, ...(revision === null ? {} : { revision }) },
    // Prisma does not change fields that are undefined.
    data: {
      name,
      description,
      ...(graph === undefined ? {} : { graph: exactJson(graph.value), graphChecksum: graph.checksum }),
      ...(runSetup === undefined ? {} : { runSetup: exactJson(runSetup) }),
      revision: { increment: 1 },
      updatedAt: at,
    },
  });
  return row === undefined ? null : toRow(row);
}
