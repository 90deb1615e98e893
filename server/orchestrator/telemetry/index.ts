/** What the service shows of the orchestrator to the outside: metrics, traces, logs. */
export { loadMetrics } from './load-metrics.ts';
export { createRunLog } from './run-log.ts';
export { createRunMetrics } from './run-metrics.ts';
export { createRunTraces } from './run-traces.ts';
