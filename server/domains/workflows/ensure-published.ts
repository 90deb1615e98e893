import type { Context } from '../../operation/context.ts';
import type { WorkflowKind } from '../../operation/workflow-kinds.ts';
import type { Graph } from '../../orchestrator/core/index.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { checksum } from './checksum.ts';
import { insertPublished } from './insert-published.ts';
import { findWorkflow, updateDraft } from './store.ts';
import { insertVersion } from './versions/queries.ts';
import { projectScope } from './view.ts';

type Own = { id: string; name: string; kind: WorkflowKind; graph: Graph };

/**
 * Creates one of the service's own workflows, or publishes its next version if this release of the service changes it.
 */
export async function ensurePublished(ctx: Context, { id, name, kind, graph }: Own): Promise<void> {
  const { prisma, clock } = ctx.services;
  const { userId } = ctx.principal;
  const scope = projectScope(ctx);
  const at = new Date(clock.now());
  const present = await findWorkflow(prisma, scope, id);
  if (present === null) {
    const workflow = { id, scope, name, description: '', graph, kind, createdBy: userId, at };
    try {
      await transact({ prisma }, tx => insertPublished(tx, workflow));
    } catch (error) {
      // A concurrent caller created it.
      if ((await findWorkflow(prisma, scope, id)) === null) throw error;
    }
    return;
  }
  const sum = checksum(graph);
  if (present.graphChecksum === sum) return;
  await transact({ prisma }, async tx => {
    const ref = { ...scope, id, kind, revision: present.revision, at };
    const updated = await updateDraft(tx, ref, { name, graph: { value: graph, checksum: sum } });
    // A concurrent caller published it.
    if (updated === null) return;
    await insertVersion(tx, { ...scope, id, revision: updated.revision }, { changelog: 'Updated', by: userId, at });
  });
}
