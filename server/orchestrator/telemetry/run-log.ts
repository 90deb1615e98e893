import type { Logger } from '../../platform/logger.ts';
import { isTerminal, type RunEvent, type RunState } from '../core/index.ts';
import { type ObservedRun, type OrchestratorObserver, unobserved } from '../ports/observer.ts';

/**
 * A debug line for each run's start and end and for each attempt that failed. Not at info: 1,500 runs a second
 * would be 3,000 lines a second, and metrics, events and traces serve better. Only codes are logged: messages
 * may contain processed data.
 */
export function createRunLog(logger: Logger): OrchestratorObserver {
  return {
    ...unobserved,
    turnCommitted(run, state, events) {
      for (const event of events) logEvent(logger, run, state, event);
    },
  };
}

function logEvent(logger: Logger, run: ObservedRun, state: RunState, event: RunEvent): void {
  const about = { run_id: run.runId, tenant_id: run.tenantId, workflow_id: run.workflowId };
  switch (event.type) {
    case 'run_started':
      logger.debug({ ...about, version: run.version, trigger_type: event.data.trigger_type }, 'run started');
      return;
    case 'state_changed': {
      const { to, error } = event.data;
      if (!isTerminal(to)) logger.debug({ ...about, status: to }, 'run status');
      else {
        const failed = error === undefined ? {} : { code: error.code, step_id: error.step_id };
        const duration = event.at - (state.startedAt ?? event.at);
        logger.debug({ ...about, status: to, duration_ms: duration, ...failed }, 'run ended');
      }
      return;
    }
    case 'step_failed':
    case 'step_retrying': {
      const { step: step_id, attempt, data } = event;
      const message = event.type === 'step_failed' ? 'step failed' : 'step to be retried';
      logger.debug({ ...about, step_id, attempt, code: data.error.code }, message);
      return;
    }
    default:
      return;
  }
}
