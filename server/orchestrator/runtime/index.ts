export {
  createEmbeddedOrchestrator,
  type EmbeddedOrchestrator,
} from './embedded-orchestrator.ts';
export type { EmbeddedOrchestratorOptions } from './orchestrator-options.ts';
