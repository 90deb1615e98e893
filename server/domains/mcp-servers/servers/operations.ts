import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import { listTools } from '../catalog/list-tools.ts';
import { platformCatalog } from '../catalog/platform.ts';
import * as schema from '../schemas.ts';
import { deleteServer, patchServer } from './change.ts';
import { createServer } from './create.ts';
import { discoverServer } from './discover.ts';
import { publishServer } from './publish.ts';
import { getServer, getVersion, listServers, listVersions } from './read.ts';
import { validateConnection, validateServer } from './validate.ts';

const tag = 'MCP servers';
const read = { tag, access: 'project_contributor', scope: 'mcp:read' } as const;
const manage = { tag, access: 'project_contributor', scope: 'mcp:manage' } as const;

const catalog = [
  operation({
    ...read,
    name: 'mcp_platform_catalog',
    method: 'GET',
    path: '/v1/mcp/platform-catalog',
    status: 200,
    summary: 'List the servers that can be registered with one click, the bundled one first',
    input: schema.PlatformCatalogInput,
    output: schema.PlatformCatalogOutput,
    run: platformCatalog,
  }),
  operation({
    ...read,
    name: 'mcp_tools_list',
    method: 'GET',
    path: '/v1/mcp/tools',
    status: 200,
    summary: 'List the published tools of all servers, with their schemas',
    description:
      'Of each published server its latest version; with `instance_id` the version that this instance calls. Titles and descriptions are the words of the servers.',
    input: schema.ListToolsInput,
    output: schema.ListToolsOutput,
    run: listTools,
  }),
] as const;

const servers = [
  operation({
    ...read,
    name: 'mcp_servers_list',
    method: 'GET',
    path: '/v1/mcp/servers',
    status: 200,
    summary: "List the workspace's MCP servers, newest first",
    input: schema.ListServersInput,
    output: schema.ListServersOutput,
    run: listServers,
  }),
  operation({
    ...manage,
    name: 'mcp_servers_create',
    method: 'POST',
    path: '/v1/mcp/servers',
    status: 201,
    summary: 'Register an MCP server',
    description:
      'It is a draft until its tools are discovered and published. An address that Baton may not call (loopback, private networks) is 422 `egress_refused`.',
    input: schema.CreateServerInput,
    output: schema.Server,
    run: createServer,
  }),
  operation({
    ...read,
    name: 'mcp_servers_get',
    method: 'GET',
    path: '/v1/mcp/servers/{id}',
    status: 200,
    summary: 'Read a server with the tools of its last discovery',
    input: schema.ServerRef,
    output: schema.ServerDetail,
    run: getServer,
  }),
  operation({
    ...manage,
    name: 'mcp_servers_patch',
    method: 'PATCH',
    path: '/v1/mcp/servers/{id}',
    status: 200,
    summary: 'Change name, address or auth_mode',
    description:
      'Another `canonical_url` or `auth_mode` makes it a draft again and forgets what was discovered; its instances cannot be called until a version is published for it. While other projects have instances of the server, only a `tenant_admin` changes its `canonical_url` (403 `insufficient_role`).',
    input: schema.PatchServerInput,
    output: schema.ServerDetail,
    run: patchServer,
  }),
  operation({
    ...manage,
    name: 'mcp_servers_delete',
    method: 'DELETE',
    path: '/v1/mcp/servers/{id}',
    status: 204,
    summary: 'Delete a server with its versions',
    description:
      '409 `server_in_use` while it has instances, in any project; `force=true` deletes them too, those of other projects only for a `tenant_admin`.',
    input: schema.DeleteServerInput,
    output: z.void(),
    errors: [409],
    run: deleteServer,
  }),
  operation({
    ...manage,
    name: 'mcp_servers_discover',
    method: 'POST',
    path: '/v1/mcp/servers/{id}/discover',
    status: 200,
    summary: 'Discover the tools of the live server',
    description:
      'Stores them for the next version. A server that cannot be reached is 422 `discovery_failed`, with its reason in `details`.',
    input: schema.WithConnection,
    output: schema.ServerDetail,
    errors: [409, 503],
    run: discoverServer,
  }),
  operation({
    ...manage,
    name: 'mcp_servers_validate',
    method: 'POST',
    path: '/v1/mcp/servers/{id}/validate',
    status: 200,
    summary: 'Check a server: address, protocol, credentials, tools, and that the published tools are current',
    input: schema.WithConnection,
    output: schema.CheckReport,
    errors: [409, 503],
    run: validateServer,
  }),
  operation({
    ...manage,
    name: 'mcp_servers_validate_connection',
    method: 'POST',
    path: '/v1/mcp/servers/{id}/connections/{connection_id}/validate',
    status: 200,
    summary: 'Check whether a connection can be used with a server',
    input: schema.ValidateConnectionInput,
    output: schema.CheckReport,
    errors: [503],
    run: validateConnection,
  }),
] as const;

const versions = [
  operation({
    ...manage,
    name: 'mcp_servers_publish_version',
    method: 'POST',
    path: '/v1/mcp/servers/{id}/versions',
    status: 201,
    summary: 'Publish the discovered tools as the next version',
    description:
      'A version never changes. 409 `not_discovered` before the first discovery, `nothing_changed` where the latest version holds the same tools.',
    input: schema.PublishServerInput,
    output: schema.Version,
    errors: [409],
    run: publishServer,
  }),
  operation({
    ...read,
    name: 'mcp_servers_list_versions',
    method: 'GET',
    path: '/v1/mcp/servers/{id}/versions',
    status: 200,
    summary: 'List the versions of a server, newest first',
    input: schema.ListVersionsInput,
    output: schema.ListVersionsOutput,
    run: listVersions,
  }),
  operation({
    ...read,
    name: 'mcp_servers_get_version',
    method: 'GET',
    path: '/v1/mcp/servers/{id}/versions/{version}',
    status: 200,
    summary: 'Read one version with its tools, and what it changed',
    input: schema.VersionRef,
    output: schema.Version,
    run: getVersion,
  }),
] as const;

/** The operations on servers, their versions and the catalogs. */
export const serverOperations = [...catalog, ...servers, ...versions] as const;
