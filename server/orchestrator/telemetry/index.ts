/** The orchestrator's view for operators: metrics, traces, logs. */
export { clusterMetrics } from './cluster-metrics.ts';
export { loadMetrics } from './load-metrics.ts';
export { createRunLog } from './run-log.ts';
export { createRunMetrics } from './run-metrics.ts';
export { createRunTraces } from './run-traces.ts';
