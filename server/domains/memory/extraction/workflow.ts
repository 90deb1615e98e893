import type { Context } from '../../../operation/context.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { checksum } from '../../workflows/checksum.ts';
import { insertPublished } from '../../workflows/insert-published.ts';
import { findExtractionWorkflow, lockExtractionWorkflow } from './store.ts';

/** The parts of a job that run concurrently. */
const CONCURRENCY = 4;
const RETRIES = 2;

/** The graph of an extraction, with one step for each part. A failed part does not stop the others. */
const GRAPH = {
  steps: [
    {
      id: 'parts',
      type: 'for_each',
      items: '{{input.parts}}',
      concurrency: CONCURRENCY,
      on_item_error: 'continue',
      steps: [
        { id: 'extract', type: 'memory_extract', part: '{{item}}', model: '{{input.model}}', retry_count: RETRIES },
      ],
    },
  ],
};

/** Returns the project's workflow for extractions, and creates it for the first one. People cannot edit workflows of this kind. */
export async function extractionWorkflow({ principal, services }: Context): Promise<string> {
  const { tenantId, projectId, userId } = principal;
  const graphChecksum = checksum(GRAPH);
  const scope = { tenantId, projectId };
  const known = await findExtractionWorkflow(services.pool, scope, graphChecksum);
  if (known !== null) return known;
  const at = new Date(services.clock.now());
  return transact({ prisma: services.prisma }, async tx => {
    await lockExtractionWorkflow(tx, tenantId, projectId);
    const present = await findExtractionWorkflow(tx, scope, graphChecksum);
    if (present !== null) return present;
    const id = newId();
    const texts = { name: 'Extraction of memories', description: 'Started by POST /v1/memory/extract/batch.' };
    await insertPublished(tx, { id, scope, ...texts, graph: GRAPH, kind: 'extraction', createdBy: userId, at });
    return id;
  });
}
