import { checksum } from './checksum.ts';
import { insertWorkflow } from './store.ts';
import { insertVersion } from './versions/queries.ts';

type Tx = Parameters<typeof insertVersion>[0] & Parameters<typeof insertWorkflow>[0];
type NewWorkflow = Omit<Parameters<typeof insertWorkflow>[1], 'runSetup' | 'graphChecksum'>;

/**
 * Inserts a workflow whose graph is its first version. The service creates agents and its own workflows in this way.
 */
export async function insertPublished(tx: Tx, workflow: NewWorkflow): Promise<void> {
  const { id, scope, graph, createdBy, at } = workflow;
  const { revision } = await insertWorkflow(tx, { ...workflow, runSetup: {}, graphChecksum: checksum(graph) });
  await insertVersion(tx, { ...scope, id, revision }, { changelog: 'Created', by: createdBy, at });
}
