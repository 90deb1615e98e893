import type { Queryable } from '../../platform/postgres/transaction.ts';
import { bucketOf, type Grain, grains } from './buckets.ts';
import { binOf, Histogram } from './histogram.ts';
import { QUARTER_OF_ROW, SELECTED, wholeProjectOf } from './rollup-store.ts';

/** The parameters of SELECTED. */
export type Selection = readonly [after: number, upTo: number, since: Date | null, projectId: string | null];

type DurationRollup = {
  tenantId: string;
  projectId: string;
  workflowId: string;
  grain: Grain;
  bucket: number;
  outcome: string;
  runs: number;
  totalMs: number;
  minMs: number;
  maxMs: number;
  histogram: Histogram;
};

/**
 * Durations of runs that ended: one string of whole ms, so that half a million of them are one value for the driver.
 */
const DURATIONS = `
  SELECT tenant_id, project_id, workflow_id, outcome, extract(epoch FROM ${QUARTER_OF_ROW}) * 1000 AS quarter,
         ${wholeProjectOf('workflow_id')} AS whole, string_agg(line->>1, ',') AS durations
  FROM run_usage CROSS JOIN LATERAL json_array_elements(attempts) line
  WHERE action = 'run_ended' AND ${SELECTED} GROUP BY 1, 2, 3, 4, 5`;

const PRESENT = `
  SELECT k.place, d.bins
  FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::float8[], $5::text[]) WITH ORDINALITY
         AS k(project_id, workflow_id, grain, bucket, outcome, place)
  JOIN analytics_durations d ON d.project_id = k.project_id AND d.workflow_id = k.workflow_id AND d.grain = k.grain
    AND d.bucket = to_timestamp(k.bucket / 1000) AND d.outcome = k.outcome`;

const ADD = `
  INSERT INTO analytics_durations (project_id, workflow_id, grain, bucket, outcome, tenant_id, runs, total_ms, min_ms, max_ms, bins)
  SELECT project_id, workflow_id, grain, to_timestamp(bucket / 1000), outcome, tenant_id, runs, total_ms, min_ms, max_ms, bins
  FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::float8[], $5::text[], $6::text[], $7::int8[], $8::int8[], $9::int8[],
              $10::int8[], $11::bytea[])
    AS k(project_id, workflow_id, grain, bucket, outcome, tenant_id, runs, total_ms, min_ms, max_ms, bins)
  ON CONFLICT (project_id, workflow_id, grain, bucket, outcome) DO UPDATE SET
    runs = analytics_durations.runs + excluded.runs, total_ms = analytics_durations.total_ms + excluded.total_ms,
    min_ms = least(analytics_durations.min_ms, excluded.min_ms), max_ms = greatest(analytics_durations.max_ms, excluded.max_ms),
    bins = excluded.bins`;

/**
 * Adds the durations of the selected usage to the rollups. The caller holds the lock of the progress, so no other
 * session changes a distribution between its read and its write.
 */
export async function aggregateDurations(db: Queryable, selection: Selection): Promise<void> {
  type Row = {
    tenant_id: string;
    project_id: string;
    workflow_id: string;
    whole: string;
    outcome: string;
    quarter: string;
    durations: string;
  };
  const { rows } = await db.query<Row>(DURATIONS, [...selection]);
  if (rows.length === 0) return;
  const rollups = new Map<string, DurationRollup>();
  for (const row of rows) {
    const owner = { tenantId: row.tenant_id, projectId: row.project_id, outcome: row.outcome };
    const durations = row.durations.split(',').map(text => Math.max(0, Math.round(Number(text))));
    for (const workflowId of [row.workflow_id, row.whole])
      for (const grain of grains)
        add(rollups, { ...owner, workflowId, grain, bucket: bucketOf(grain, Number(row.quarter)) }, durations);
  }
  await write(db, [...rollups.values()]);
}

function add(
  rollups: Map<string, DurationRollup>,
  about: Pick<DurationRollup, 'tenantId' | 'projectId' | 'workflowId' | 'grain' | 'bucket' | 'outcome'>,
  durations: readonly number[],
): void {
  const key = `${about.projectId} ${about.workflowId} ${about.grain} ${about.bucket} ${about.outcome}`;
  let rollup = rollups.get(key);
  if (rollup === undefined) {
    rollup = { ...about, runs: 0, totalMs: 0, minMs: Number.POSITIVE_INFINITY, maxMs: 0, histogram: new Histogram() };
    rollups.set(key, rollup);
  }
  for (const ms of durations) {
    rollup.runs += 1;
    rollup.totalMs += ms;
    rollup.minMs = Math.min(rollup.minMs, ms);
    rollup.maxMs = Math.max(rollup.maxMs, ms);
    rollup.histogram.add(binOf(ms));
  }
}

async function write(db: Queryable, rollups: readonly DurationRollup[]): Promise<void> {
  const column = (pick: (rollup: DurationRollup) => unknown) => rollups.map(pick);
  const key = [
    column(rollup => rollup.projectId),
    column(rollup => rollup.workflowId),
    column(rollup => rollup.grain),
    column(rollup => rollup.bucket),
    column(rollup => rollup.outcome),
  ];
  const { rows: present } = await db.query<{ place: string; bins: Buffer }>(PRESENT, key);
  for (const { place, bins } of present) rollups[Number(place) - 1]?.histogram.merge(bins);
  await db.query(ADD, [
    ...key,
    column(rollup => rollup.tenantId),
    column(rollup => rollup.runs),
    column(rollup => rollup.totalMs),
    column(rollup => rollup.minMs),
    column(rollup => rollup.maxMs),
    column(rollup => rollup.histogram.pack()),
  ]);
}
