import type { z } from 'zod';
import { isoTimestamp } from '../../platform/clock.ts';
import type { RunSchema } from './schemas.ts';
import type { RunRow } from './store.ts';

/** Returns a run in the form that every surface shows. */
export function toRun(row: RunRow): z.input<typeof RunSchema> {
  return {
    run_id: row.id,
    workflow_id: row.workflow_id,
    project_id: row.project_id,
    workflow_name: row.workflow_name,
    version: row.version,
    test: row.version < 0,
    status: row.status,
    orchestration_phase: row.orchestration_phase,
    session_id: row.session_id,
    run_complete: row.ended_at !== null,
    trigger_type: row.trigger_type,
    started_by: row.started_by,
    started_at: isoTimestamp(row.started_at.getTime()),
    ended_at: row.ended_at && isoTimestamp(row.ended_at.getTime()),
    error: row.error && { code: row.error.code, message: row.error.message, step_id: row.error.step_id },
    steps_total: row.steps_total,
    steps_done: row.steps_done,
    steps_skipped: row.steps_skipped,
    pending_tasks: row.pending_tasks,
    rerun_of: row.rerun_of,
    credits_microcredits: Number(row.credits_microcredits),
  };
}
