import type { Queryable } from '../../platform/postgres/transaction.ts';
import type { Selection } from './durations-store.ts';
import { QUARTER_OF_ROW, SELECTED } from './rollup-store.ts';

const keyColumns = ['project_id', 'workflow_id', 'action', 'step_type', 'subject', 'started_by'];
/** The key of a rollup of usage, in addition to its workspace and quarter. No stored text contains the separator. */
const DIGEST = `md5(concat_ws(E'\\x1f', ${keyColumns.join(', ')}))::uuid`;

/** Billable usage as rows of usage_sums. */
export const usageRollupQuery = (where: string) => `
  SELECT tenant_id, ${QUARTER_OF_ROW} AS bucket, ${DIGEST} AS digest, ${keyColumns.join(', ')},
         sum(quantity) AS quantity, sum(microcredits) AS microcredits
  FROM run_usage WHERE ${where} AND action NOT IN ('run_started', 'run_ended')
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`;

const AGGREGATE = `
  INSERT INTO usage_sums AS s (tenant_id, bucket, digest, ${keyColumns.join(', ')}, quantity, microcredits) ${usageRollupQuery(SELECTED)}
  ON CONFLICT (tenant_id, bucket, digest) DO UPDATE SET
    quantity = s.quantity + excluded.quantity, microcredits = s.microcredits + excluded.microcredits`;

/** Adds the selected usage to the rollups that billing reads. The caller holds the lock of the progress. */
export async function aggregateUsage(db: Queryable, selection: Selection): Promise<void> {
  await db.query(AGGREGATE, [...selection]);
}
