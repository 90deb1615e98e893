export {
  createEmbeddedOrchestrator,
  type EmbeddedOrchestrator,
  type EmbeddedOrchestratorOptions,
} from './embedded-orchestrator.ts';
