import type { ClientBase, Pool } from 'pg';
import type { RunEvent } from '../../orchestrator/core/index.ts';
import { commitStatement, encodeEvent, type LogEntry } from '../../orchestrator/log/index.ts';
import { newId } from '../../platform/ids.ts';
import { runProjection } from '../engine/projection.ts';

/**
 * Charges a workspace like the engine does, with the commit of a run whose only step costs
 * `amount`. Returns the run's id.
 */
export async function charge(pool: Pool | ClientBase, tenantId: string, amount: number, at: number): Promise<string> {
  const entry = chargedRun(tenantId, [amount], at);
  await pool.query(commitStatement([entry]));
  return entry.runId;
}

/** Returns what the engine writes for a run that ended after steps with these `amounts`. */
export function chargedRun(
  tenantId: string,
  amounts: readonly number[],
  at: number,
  owner = { projectId: newId(), workflowId: newId() },
): LogEntry {
  const runId = newId();
  const credits = amounts.reduce((sum, amount) => sum + amount, 0);
  const events: RunEvent[] = [
    { at, type: 'run_started', data: started },
    ...amounts.map((amount, index) => ({
      at,
      type: 'step_completed' as const,
      step: `s${index}`,
      attempt: 1,
      data: { result: null, ...(amount > 0 && { credits: amount }) },
    })),
    { at, type: 'state_changed', data: { from: 'running', to: 'completed' } },
  ];
  return {
    runId,
    rows: events.map((event, index) => encodeEvent(event, index + 1, [])),
    payloads: [],
    projection: runProjection({
      status: 'completed',
      phase: 'complete',
      stepsDone: amounts.length,
      endedAt: at,
      lastSeq: events.length,
      credits,
    }),
    created: {
      tenantId,
      ...owner,
      version: 1,
      sessionId: runId,
      triggerType: 'api',
      startedBy: 'ann@example.com',
      startedAt: at,
      stepsTotal: amounts.length,
    },
    tasks: [],
    owner: { tenantId, ...owner },
    startedBy: 'ann@example.com',
    usage: amounts.map((price, index) => ({
      action: 'workflow_step',
      stepType: 'lua_script',
      subject: '',
      outcome: 'completed',
      quantity: 1,
      price,
      line: [`s${index}`, 1, 1],
      at,
    })),
  };
}

const started = {
  version: 1,
  input: {},
  mode: 'normal' as const,
  trigger_type: 'api',
  started_by: 'ann@example.com',
  session_id: '',
  trigger_steps: {},
  seed_results: {},
};
