import { z } from 'zod';
import { AnyObject } from '../../operation/wire.ts';
import { hasRole } from '../../orchestrator/ports/authority.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { parseInput, readJsonBody, readQuery } from '../input.ts';
import { hasScope } from '../invoke.ts';
import type { RegisteredOperation } from '../registry.ts';
import { readTarget } from '../request.ts';
import { readArguments } from './arguments.ts';
import { fitArguments } from './fit-arguments.ts';
import { argumentsSchema, invokeRead } from './operation-tools.ts';
import type { McpCaller, McpOptions, PlatformTool } from './platform-tool.ts';

const Arguments = z.strictObject({
  method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
  path: z.string().min(1).max(2_000).meta({ description: 'A path under /v1/mcp/, without a query' }),
  query: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
    .optional()
    .meta({ description: 'Query parameters' }),
  body: AnyObject.optional().meta({ description: 'The JSON body of POST and PATCH' }),
});

const prefix = '/v1/mcp/';

/** The tools that the deployment has enabled. */
type EnabledTools = { groups: readonly string[]; risk: boolean };

/**
 * `catalog_bff_request` (docs/specification/mcp.md#catalog-request): all routes under /v1/mcp/ as one tool. Permission depends on
 * the operation to which the path is routed, never on the path's text, so an encoded or dotted path gains nothing. An operation
 * of another group, such as `vault` of connections, also needs that group, and those whose route has a `credentials` segment need
 * the risk group.
 */
export function catalogTool(options: McpOptions, enabled: EnabledTools): PlatformTool {
  const entries = options.registry.operations.filter(entry => isCatalogRoute(entry, enabled));
  return {
    group: 'catalog',
    risk: false,
    brief: 'Call a route under /v1/mcp/ (servers, tools, instances, config profiles). describe_tool lists them.',
    definition: {
      name: 'catalog_bff_request',
      title: 'Call a route of the tool catalog',
      description: `Calls one of these routes and returns its answer:\n${entries
        .map(({ operation }) => `${operation.method} ${operation.path}: ${operation.summary}`)
        .join('\n')}`,
      inputSchema: argumentsSchema(Arguments),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    usable: principal =>
      entries.some(
        ({ operation }) =>
          operation.access !== 'public' &&
          hasRole(principal.role, operation.access) &&
          hasScope(principal, operation.scope),
      ),
    async call(caller, args) {
      return request(options, enabled, caller, readArguments(Arguments, args));
    },
  };
}

function isCatalogRoute({ operation }: RegisteredOperation, { groups, risk }: EnabledTools): boolean {
  if (!operation.path.startsWith(prefix)) return false;
  if (!groups.includes(operation.mcp?.group ?? 'catalog')) return false;
  return risk || (operation.mcp?.risk !== true && !operation.path.split('/').includes('credentials'));
}

async function request(
  options: McpOptions,
  enabled: EnabledTools,
  caller: McpCaller,
  { method, path, query, body }: z.output<typeof Arguments>,
): Promise<unknown> {
  const { pathname, search } = readTarget(path);
  if (search !== '')
    throw invalid('The path contains a query: use `query`.', [{ path: 'path', message: 'holds a query' }]);
  const match = options.registry.router.match(method, pathname);
  if (match.kind !== 'found' || !isCatalogRoute(match.value, enabled)) throw notFound('Route');
  const entry = match.value;
  const output = await invokeRead(options, entry, caller, () =>
    parseInput(entry, { path: match.parameters, fields: readFields(entry, query, body) }),
  );
  return { status: entry.operation.status, body: output ?? null };
}

/** Reads fields with the same code as a request over HTTP, so that the two cannot differ. */
function readFields(
  entry: RegisteredOperation,
  query: z.output<typeof Arguments>['query'],
  body: z.output<typeof Arguments>['body'],
): Record<string, unknown> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const item of [value].flat()) search.append(name, String(item));
  }
  const fields = readQuery(entry, search.size > 0 ? `?${search}` : '');
  if (entry.carrier === 'body') {
    return fitArguments(entry.inputSchema, readJsonBody(Buffer.from(JSON.stringify(body ?? {}))));
  }
  if (body !== undefined)
    throw invalid(`${entry.operation.method} takes no body.`, [{ path: 'body', message: 'is not taken' }]);
  return fields;
}
