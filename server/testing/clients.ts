import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { operations } from '../api/operations.ts';
import { createRegistry } from '../api/registry.ts';
import type { Principal } from '../operation/context.ts';
import { scopes } from '../orchestrator/ports/authority.ts';
import type { TestContainer } from './container.ts';
import { createTestPat } from './identity.ts';

type Json = Record<string, unknown>;
/** The answer of an operation, or the body of its refusal. */
export type ClientAnswer = Json & { code?: string; id: string; run_id: string };
export type ClientOf = (name: string, input: Json, as: Principal) => Promise<ClientAnswer>;
/** The surfaces that programs use. */
export const clientSurfaces = ['REST', 'Platform MCP'] as const;
export type Clients = Record<(typeof clientSurfaces)[number], ClientOf> & { close(): Promise<void> };

/** Returns clients that call operations by their names over real HTTP, each with a token of the person. */
export function createClients(service: TestContainer): Clients {
  const registry = createRegistry(operations);
  const tokens = new Map<Principal, string>();
  const open = new Map<Principal, Client>();
  async function tokenOf(as: Principal): Promise<string> {
    const token = tokens.get(as) ?? (await createTestPat(service.container.services, as, scopes)).token;
    tokens.set(as, token);
    return token;
  }
  async function rest(name: string, input: Json, as: Principal): Promise<ClientAnswer> {
    const entry = registry.byName.get(name);
    if (entry === undefined) throw new Error(`There is no operation ${name}`);
    const fields = new Map(Object.entries(input));
    const path = entry.operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
      const value = String(fields.get(parameter));
      fields.delete(parameter);
      return encodeURIComponent(value);
    });
    const isQuery = entry.carrier === 'query';
    const query = new URLSearchParams([...fields].map(([field, value]) => [field, String(value)]));
    const response = await fetch(`${service.url}${path}${isQuery ? `?${query}` : ''}`, {
      method: entry.operation.method,
      headers: { authorization: `Bearer ${await tokenOf(as)}`, 'content-type': 'application/json' },
      ...(!isQuery && { body: JSON.stringify(Object.fromEntries(fields)) }),
    });
    const text = await response.text();
    return JSON.parse(text === '' ? '{}' : text);
  }
  async function connected(as: Principal): Promise<Client> {
    const known = open.get(as);
    if (known !== undefined) return known;
    const client = new Client({ name: 'test', version: '1' });
    const headers = { Authorization: `Bearer ${await tokenOf(as)}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }),
    );
    open.set(as, client);
    return client;
  }
  return {
    REST: rest,
    async 'Platform MCP'(name, { runID, ...input }, as) {
      const args = runID === undefined ? input : { ...input, run_id: runID };
      const result = (await (await connected(as)).callTool({ name, arguments: args })) as CallToolResult;
      if (result.isError !== true) return result.structuredContent as ClientAnswer;
      const [block] = result.content;
      return JSON.parse(block?.type === 'text' ? block.text : '{}');
    },
    async close() {
      for (const client of open.values()) await client.close();
    },
  };
}
