import type { RegisteredOperation } from '../api/registry.ts';
import { fieldsOf, inWorld, type Name, parametersIn, pathIn, type Sent, type TestWorlds, type World } from './world.ts';

/** The answer of a surface in terms that all surfaces share: the error's code, or `ok`. */
export type Verdict = string;
export type Ask = (
  entry: RegisteredOperation,
  ids: World['ids'],
  sent: Sent,
  extra?: Record<string, unknown>,
) => Promise<Verdict>;
/** `catalog` calls a route through the MCP tool for routes. */
export const surfaceNames = ['rest', 'trpc', 'mcp', 'catalog'] as const;
export type SurfaceName = (typeof surfaceNames)[number];

/** A valid call of an operation over each surface, with `extra` fields. */
export function surfacesOf(worlds: TestWorlds): Record<SurfaceName, Ask> {
  return {
    async rest(entry, ids, sent, extra) {
      const { status, body } = await worlds.call(entry, ids, sent, extra);
      return status < 300 ? 'ok' : String(body.code);
    },
    async trpc(entry, ids, sent, extra) {
      const { method, name } = entry.operation;
      const path = `/api/trpc/${name}`;
      const input = inputOf(entry, ids, extra);
      const { body } =
        method === 'GET'
          ? await worlds.request('GET', `${path}?input=${encodeURIComponent(JSON.stringify(input))}`, sent)
          : await worlds.request('POST', path, { ...sent, body: input });
      return body.error === undefined ? 'ok' : String(body.error.data?.code ?? JSON.stringify(body.error));
    },
    async mcp(entry, ids, sent, extra) {
      const args = Object.fromEntries(
        Object.entries(inputOf(entry, ids, extra)).map(([name, value]) => [
          name.replace(/[A-Z]+/g, letters => `_${letters.toLowerCase()}`),
          value,
        ]),
      );
      return callTool(worlds, sent, entry.operation.name, args);
    },
    async catalog(entry, ids, sent, extra) {
      const { method } = entry.operation;
      const fields = { ...inWorld(fieldsOf(entry.operation.name as Name), ids), ...extra };
      const carried = entry.carrier === 'query' ? { query: fields } : { body: fields };
      return callTool(worlds, sent, 'catalog_bff_request', { method, path: pathIn(entry, ids), ...carried });
    },
  };
}

async function callTool(worlds: TestWorlds, sent: Sent, name: string, args: Record<string, unknown>): Promise<Verdict> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const { body } = await worlds.request('POST', '/mcp', { ...sent, body: message });
  if (body.result === undefined) return String(body.code ?? JSON.stringify(body.error));
  return body.result.isError === true ? String(JSON.parse(body.result.content[0].text).code) : 'ok';
}

/** Returns whether the surface has the operation. */
export function isOn(surface: SurfaceName, { operation }: RegisteredOperation): boolean {
  switch (surface) {
    case 'rest':
      return true;
    case 'trpc':
      return operation.raw === undefined && operation.produces !== 'text/event-stream';
    case 'mcp':
      return operation.mcp !== undefined && operation.mcp.tool !== false;
    case 'catalog':
      return operation.path.startsWith('/v1/mcp/');
  }
}

/** `/mcp` takes no cookie. */
export const takesSessions = (surface: SurfaceName): boolean => surface === 'rest' || surface === 'trpc';

function inputOf(entry: RegisteredOperation, ids: World['ids'], extra: Record<string, unknown> = {}) {
  const fields = inWorld(fieldsOf(entry.operation.name as Name), ids);
  // Examples of queries are written as text, which only REST parses.
  if (entry.carrier === 'query')
    for (const [name, value] of Object.entries(fields)) if (value === 'true') fields[name] = true;
  return { ...fields, ...Object.fromEntries(parametersIn(entry, ids)), ...extra };
}
