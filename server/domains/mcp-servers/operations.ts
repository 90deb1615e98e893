import { instanceOperations } from './instances/operations.ts';
import { serverOperations } from './servers/operations.ts';

/** All operations on MCP servers, their tools and their instances, except calling a tool, which workflows do. */
export const mcpServerOperations = [...serverOperations, ...instanceOperations] as const;
