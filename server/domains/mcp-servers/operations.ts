import { instanceOperations } from './instances/operations.ts';
import { serverOperations } from './servers/operations.ts';

/** Everything that can be done with MCP servers, their tools and their instances, but for calling a tool: workflows do that. */
export const mcpServerOperations = [...serverOperations, ...instanceOperations] as const;
