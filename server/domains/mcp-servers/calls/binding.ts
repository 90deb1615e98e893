import type { Services } from '../../../operation/services.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { StepProblem } from '../../../orchestrator/ports/step-type.ts';
import { AppError, conflict, notFound } from '../../../platform/errors.ts';
import { isId } from '../../../platform/ids.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { loadCredentials } from '../../connections/credentials.ts';
import { credentialHeaders } from '../credential-headers.ts';
import { effectiveSettings } from '../instances/settings.ts';
import { type BoundRow, findBound, type InstanceRef } from './queries.ts';

export type { InstanceRef } from './queries.ts';

export type BindingServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock' | 'egress' | 'config'>;

/** The tools of an instance, which suffice to check a step without reading a secret. */
export type Offer = {
  instance: { id: string; name: string };
  server: { id: string; name: string; authMode: BoundRow['auth_mode'] };
  version: number;
  tools: readonly McpTool[];
  /** Arguments for steps that leave them out, passed to tools that declare them. */
  defaultArgs: JsonMap;
};

/** An offer with everything that a call needs. */
export type Binding = Offer & {
  url: string;
  headers: Record<string, string>;
  /** Reaches only the origins for which the credentials are meant. */
  fetch: typeof globalThis.fetch;
  /** Sent with each call as `_meta.config`; null: not sent. */
  config: JsonMap | null;
  /** Values that must not appear in a result, an error or a log line. */
  secrets: string[];
};

/** Returns the instance of this project. Throws AppError 404, or 409 `mcp_server_not_published`. */
async function requireBound(pool: Services['pool'], ref: InstanceRef): Promise<BoundRow> {
  const row = isId(ref.instanceId) ? await findBound(pool, ref) : null;
  if (row === null) throw notFound('MCP instance');
  return row;
}

function offerOf(row: BoundRow): Offer {
  if (row.version === null || row.tools === null) {
    throw conflict('mcp_server_not_published', `The MCP server “${row.server_name}” has no such published version.`);
  }
  return {
    instance: { id: row.id, name: row.name },
    server: { id: row.server_id, name: row.server_name, authMode: row.auth_mode },
    version: row.version,
    tools: row.tools,
    defaultArgs: effectiveSettings(row.config, row.profile_settings).defaultArgs,
  };
}

/** Returns the tools of an instance of this project. Throws AppError 404, or 409 `mcp_server_not_published`. */
export async function findOffer(services: Pick<Services, 'pool'>, ref: InstanceRef): Promise<Offer> {
  return offerOf(await requireBound(services.pool, ref));
}

/** Returns the address of the server of an instance; null if the project has no such instance. */
export async function findServerUrl({ pool }: Pick<Services, 'pool'>, ref: InstanceRef): Promise<string | null> {
  const row = isId(ref.instanceId) ? await findBound(pool, ref) : null;
  return row?.canonical_url ?? null;
}

/**
 * Returns an instance of this tenant and project, ready to be called: its pinned version, or the latest published
 * one, and the credentials of the active profile's connection, else of its own; there is no other source of
 * credentials. Throws AppError 404, 409 `mcp_server_not_published`, `mcp_connection_missing` or `mcp_connection_unfit`, and
 * 409 and 503 as in loadCredentials.
 */
export async function bindInstance(services: BindingServices, ref: InstanceRef): Promise<Binding> {
  const row = await requireBound(services.pool, ref);
  const offer = offerOf(row);
  const { headers, config } = effectiveSettings(row.config, row.profile_settings);
  const credentials = await credentialsOf(services, ref, row);
  return {
    ...offer,
    url: row.canonical_url,
    headers: overlayHeaders(headers, credentials.headers),
    fetch: credentials.fetch,
    config,
    secrets: credentials.secrets,
  };
}

/** Overlays the headers of an instance with credentials, which replace headers of the same name regardless of case. */
function overlayHeaders(
  headers: Readonly<Record<string, string>>,
  over: Record<string, string>,
): Record<string, string> {
  const taken = new Set(Object.keys(over).map(name => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...over };
}

async function credentialsOf(
  services: BindingServices,
  { tenantId, projectId }: InstanceRef,
  row: BoundRow,
): Promise<Pick<Binding, 'headers' | 'secrets' | 'fetch'>> {
  if (row.auth_mode === 'none') return { headers: {}, secrets: [], fetch: services.egress.fetch };
  const connectionId = row.connection_id;
  const found =
    connectionId === null
      ? null
      : await loadCredentials(services, { tenantId, projectId, connectionId }, row.canonical_url);
  if (found === null) {
    const message = `The MCP server “${row.server_name}” needs credentials, and the instance has no connection.`;
    throw conflict('mcp_connection_missing', message);
  }
  const made = credentialHeaders(row.auth_mode, found.values);
  if ('headers' in made) return { headers: made.headers, secrets: Object.values(found.values), fetch: found.fetch };
  throw new AppError(409, 'mcp_connection_unfit', `The connection “${found.name}” does not match. ${made.problem}`);
}

/** Converts an AppError of an instance to a problem of the step that names it; throws any other error. */
export function instanceProblem(error: unknown): StepProblem {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  const code = error.status === 404 ? 'unknown_instance' : error.code;
  const message = error.status === 404 ? 'there is no such MCP instance in this project' : error.message;
  return { path: 'instance_id', code, message };
}
