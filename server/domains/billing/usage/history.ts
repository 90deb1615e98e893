import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { CursorTime, cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { Id, MAX_INTEGER } from '../../../operation/wire.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { type CsvColumn, writeCsv } from '../../../platform/csv.ts';
import type { ExportUsageInput, ListUsageInput, ListUsageOutput, UsageLine } from '../schemas.ts';
import { listUsage, pagesOfUsage, type UsageEntry, type UsageFilter } from './store.ts';

type Line = z.input<typeof UsageLine>;

/** Time and id of a row, and the line in it. */
const UsageCursor = z.tuple([CursorTime, Id, z.number().int().min(1).max(MAX_INTEGER)]);

/** GET /v1/billing/usage-history: the usage of every attempt, newest first, of the whole workspace. */
export async function usageHistory(
  { principal, services }: Context,
  { limit, cursor, ...filters }: z.output<typeof ListUsageInput>,
): Promise<z.input<typeof ListUsageOutput>> {
  const key = decodeCursor(UsageCursor, cursor);
  const after = key && { at: key[0], id: key[1], line: key[2] };
  const entries = await listUsage(services.pool, principal.tenantId, toFilter(filters), { after, limit: limit + 1 });
  const page = cutPage(entries, limit, entry => [entry.key.at, entry.key.id, entry.key.line]);
  return { usage: page.rows.map(toLine), next_cursor: page.next_cursor };
}

/** GET /v1/billing/usage-history/export: the same as CSV. Throws AppError 422 `too_many_rows`. */
export async function exportUsage(
  { principal, services }: Context,
  filters: z.output<typeof ExportUsageInput>,
): Promise<string> {
  return writeCsv(columns, pagesOfUsage(services.pool, principal.tenantId, toFilter(filters)));
}

/** Returns the filters in the store's form. */
export function toFilter(input: z.output<typeof ExportUsageInput>): UsageFilter {
  const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  return {
    from: time(input.from),
    to: time(input.to),
    projects: input.project_id === undefined ? undefined : [input.project_id],
    workflow: input.workflow_id,
    run: input.run_id,
    action: input.action,
    stepType: input.step_type,
    subject: input.subject,
    startedBy: input.started_by,
  };
}

const toLine = (entry: UsageEntry): Line => ({
  id: entry.key.id,
  at: isoTimestamp(entry.key.at),
  action: entry.action,
  project_id: entry.projectId,
  workflow_id: entry.workflowId,
  workflow_name: entry.workflowName,
  run_id: entry.runId,
  step_id: entry.stepId,
  attempt: entry.attempt,
  step_type: entry.stepType,
  subject: entry.subject,
  started_by: entry.startedBy,
  quantity: entry.quantity,
  unit_microcredits: entry.price,
  microcredits: entry.quantity * entry.price,
});

const columns: CsvColumn<UsageEntry>[] = [
  ['at', entry => isoTimestamp(entry.key.at)],
  ['action', entry => entry.action],
  ['quantity', entry => entry.quantity],
  ['unit_microcredits', entry => entry.price],
  ['microcredits', entry => entry.quantity * entry.price],
  ['workflow_id', entry => entry.workflowId],
  ['workflow_name', entry => entry.workflowName],
  ['run_id', entry => entry.runId],
  ['step_id', entry => entry.stepId],
  ['attempt', entry => entry.attempt],
  ['step_type', entry => entry.stepType],
  ['subject', entry => entry.subject],
  ['started_by', entry => entry.startedBy],
  ['project_id', entry => entry.projectId],
  ['id', entry => entry.key.id],
];
