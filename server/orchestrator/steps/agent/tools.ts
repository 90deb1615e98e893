import type { JsonMap } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** A tool in the published version of its server. The worse case is assumed for missing annotations. */
export type OfferedTool = {
  name: string;
  description: string;
  inputSchema: JsonMap;
  /** Whether the tool changes nothing. */
  readOnly: boolean;
  /** Whether the server says that the tool is destructive. */
  destructive: boolean;
  /** Whether the server says that repeating a call has no further effect. */
  idempotent?: boolean;
  /** Whether the tool has an open world, so that its results may contain text from outside. */
  openWorld: boolean;
  /** Whether the server receives credentials of the workspace. */
  credentials?: boolean;
  /** For a workflow or agent that is a tool: its version and the name of the tool. The field `name` is then the id of the workflow. */
  run?: { version: number; name: string };
};

export type ToolOffer =
  | { kind: 'offer'; instance: string; tools: OfferedTool[] }
  | { kind: 'failed'; code: string; message: string; retryable: boolean };

/** The port of agents to the tools of MCP instances; the domain of MCP servers implements it. */
export type AgentTools = {
  /** Returns the problems of an entry of an agent's tools: an unknown instance, or tools that it does not offer. `*` matches all tools. */
  check(scope: CheckScope, of: { instanceId: string; tools: readonly string[] }): Promise<StepProblem[]>;
  /** Returns the tools of an instance of this project, in its published version. */
  offer(of: { tenantId: string; projectId: string; instanceId: string }): Promise<ToolOffer>;
  /** Returns the problems of arguments according to the schema of a tool; empty if they are valid, or if the schema cannot be used. */
  problems(inputSchema: JsonMap, args: JsonMap): string[];
};
