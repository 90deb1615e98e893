import { z } from 'zod';
import { MCP_GROUPS } from './mcp-groups.ts';

/** Comma separated. */
const listOf = (byDefault: string) =>
  z
    .string()
    .default(byDefault)
    .transform(value =>
      value
        .split(',')
        .map(item => item.trim())
        .filter(item => item !== ''),
    );
const list = listOf('');

/** The Platform MCP endpoint (docs/mcp.md). */
export const mcpSchema = z.object({
  /** Groups of tools, comma separated; the sensitive ones (vault, pat, inbound, llm_keys) only if named. */
  BATON_MCP_GROUPS: listOf('core,catalog,memory,chat,files,websocket').pipe(z.array(z.enum(MCP_GROUPS))),
  /** Whether to offer tools whose answers contain secrets. */
  BATON_MCP_RISK: z.enum(['true', 'false']).default('false'),
  /** How long the call of a workflow waits for the end of its run. Clients wait for 60 s by default. */
  BATON_MCP_WORKFLOW_WAIT_S: z.coerce.number().int().min(0).max(60).default(50),
  /** Further host names under which the endpoint may be called, besides the public URL's and this machine's. */
  BATON_MCP_ALLOWED_HOSTS: list.refine(
    hosts => hosts.every(host => /^([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])$/.test(host)),
    'must be host names, comma separated, without a scheme, port or path',
  ),
  /** Origins of pages that may call the endpoint, such as an inspector's. */
  BATON_MCP_ALLOWED_ORIGINS: list.refine(
    origins => origins.every(origin => /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]+$/.test(origin)),
    'must be origins such as http://localhost:6274, comma separated, without a path',
  ),
});

export type McpSettings = {
  groups: readonly string[];
  risk: boolean;
  workflowWaitS: number;
  hosts: readonly string[];
  origins: readonly string[];
};

/** `url` is the public one, whose host may always be called. */
export const mcpSettings = (env: z.output<typeof mcpSchema>, url: string): McpSettings => ({
  groups: env.BATON_MCP_GROUPS,
  risk: env.BATON_MCP_RISK === 'true',
  workflowWaitS: env.BATON_MCP_WORKFLOW_WAIT_S,
  hosts: [...new Set([new URL(url).hostname, 'localhost', '127.0.0.1', '[::1]', ...env.BATON_MCP_ALLOWED_HOSTS])],
  origins: env.BATON_MCP_ALLOWED_ORIGINS,
});
