/**
 * The parts of the orchestrator that the rest of the service uses beside the port in orchestrator.ts: the executor
 * behind the port, and reading the log.
 */
export { createEmbeddedOrchestrator, type EmbeddedOrchestrator } from './runtime/index.ts';
