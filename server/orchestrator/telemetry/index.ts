/** What the service shows of the orchestrator to the outside: metrics, traces, logs. */
export { loadMetrics } from './load-metrics.ts';
export { createRunMetrics } from './run-metrics.ts';
