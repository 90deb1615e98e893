import type { JsonMap } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** A tool as the published version of its server describes it. Where the server says nothing, the worse case is assumed. */
export type OfferedTool = {
  name: string;
  description: string;
  inputSchema: JsonMap;
  /** The tool changes nothing. */
  readOnly: boolean;
  /** The server says that it may destroy something. */
  destructive: boolean;
  /** The server says that the same call, made twice, does no more than once. */
  idempotent?: boolean;
  /** The tool reaches beyond its own domain, so that its results may contain text that anybody wrote. */
  openWorld: boolean;
  /** Its server gets credentials of the workspace. */
  credentials?: boolean;
  /** The version whose run the tool is, and the name of the tool: its `name` is the id of a workflow. */
  run?: { version: number; name: string };
};

export type ToolOffer =
  | { kind: 'offer'; instance: string; tools: OfferedTool[] }
  | { kind: 'failed'; code: string; message: string; retryable: boolean };

/** The port of agents to the tools of MCP instances; the domain of MCP servers implements it. */
export type AgentTools = {
  /** Returns the problems of a list of an agent's tools: an unknown instance, or names that it does not offer. `*`: all. */
  check(scope: CheckScope, of: { instanceId: string; tools: readonly string[] }): Promise<StepProblem[]>;
  /** Returns the tools of an instance of this project, in its published version. */
  offer(of: { tenantId: string; projectId: string; instanceId: string }): Promise<ToolOffer>;
  /** Returns why arguments do not fit the schema of a tool; empty if they do, or if that cannot be checked. */
  problems(inputSchema: JsonMap, args: JsonMap): string[];
};
