import { operation } from '../../operation/operation.ts';
import { NoContent, Nothing as NoInput } from '../identity/schemas.ts';
import { createConnection } from './create.ts';
import { credentialMetadata } from './credential-metadata.ts';
import { deleteConnection } from './delete.ts';
import { getConnection } from './get.ts';
import { listConnections } from './list.ts';
import { messagingComplete, messagingConfig, messagingManual, messagingOauthUrl } from './messaging/connect.ts';
import * as messagingSchema from './messaging/schemas.ts';
import { patchConnection } from './patch.ts';
import * as schema from './schemas.ts';
import { patchSuiteServices, suiteAccount } from './suite/account.ts';
import { suiteComplete, suiteConfig, suiteOauthUrl } from './suite/connect.ts';
import * as suiteSchema from './suite/schemas.ts';
import { connectionUsage } from './usage.ts';

const common = {
  tag: 'Connections',
  access: 'project_contributor',
  scope: 'connection:manage',
  mcp: { group: 'vault' },
} as const;

/**
 * The operations that are also served under `/v1/mcp/connections`, for legacy clients: one declaration, two paths
 * (docs/specification/http.md#base-url-and-versioning).
 */
const crud = {
  list: {
    ...common,
    method: 'GET',
    status: 200,
    summary: "List the project's connections and those shared with the workspace, newest first",
    input: schema.ListConnectionsInput,
    output: schema.ListConnectionsOutput,
    run: listConnections,
  },
  create: {
    ...common,
    method: 'POST',
    status: 201,
    summary: 'Create a connection from credentials',
    description:
      'The secrets go to the secret store and are never returned. They are sent to `origins` only; by default to the origin of `config.base_url`, else to the first server that their creator uses them with. `shared` needs a `tenant_admin`.',
    input: schema.CreateConnectionInput,
    output: schema.Connection,
    errors: [503],
    run: createConnection,
  },
  get: {
    ...common,
    method: 'GET',
    status: 200,
    summary: 'Read a connection, without its secrets',
    input: schema.ById,
    output: schema.Connection,
    run: getConnection,
  },
  patch: {
    ...common,
    method: 'PATCH',
    status: 200,
    summary: 'Rename a connection, or replace its secrets or settings',
    description:
      'Credentials are merged: null removes one. Those of `suite` and `messaging` connections are kept by their flows. Another origin needs every credential again: 422 `secret_required`. One that is shared with the workspace is changed by a `tenant_admin` alone.',
    input: schema.PatchConnectionInput,
    output: schema.Connection,
    errors: [409, 503],
    run: patchConnection,
  },
  delete: {
    ...common,
    method: 'DELETE',
    status: 204,
    summary: 'Delete a connection and its secrets',
    description:
      'One that is in use is 409 `connection_in_use` with what uses it in `details`, unless `force` is true. One that is shared with the workspace is deleted by a `tenant_admin` alone.',
    input: schema.DeleteConnectionInput,
    output: NoContent,
    errors: [409, 503],
    run: deleteConnection,
  },
  credentials: {
    ...common,
    method: 'GET',
    status: 200,
    summary: "Names of a connection's credentials, and when each was set",
    input: schema.ById,
    output: schema.CredentialMetadata,
    errors: [409, 503],
    run: credentialMetadata,
  },
} as const;

/** Returns the operation on the legacy path, without a tool, which would exist twice otherwise. */
function legacy<const Declared extends { summary: string; mcp: { group: 'vault' } }>({
  mcp,
  summary,
  ...declared
}: Declared) {
  return { ...declared, mcp: { ...mcp, tool: false as const }, summary: `${summary} (legacy path)` };
}

const suite = [
  operation({
    ...common,
    name: 'connections_suite_config',
    method: 'GET',
    path: '/v1/connections/suite/config',
    status: 200,
    summary: 'Get whether suite accounts can be connected, and their services',
    input: NoInput,
    output: suiteSchema.SuiteConfigOutput,
    run: suiteConfig,
  }),
  operation({
    ...common,
    name: 'connections_suite_oauth_url',
    feature: 'suite',
    method: 'POST',
    path: '/v1/connections/suite/oauth-url',
    status: 200,
    summary: 'Start connecting a suite account',
    description: 'Code with PKCE. The browser of the same user has to come back within ten minutes.',
    input: suiteSchema.SuiteOauthUrlInput,
    output: schema.OauthUrl,
    errors: [503],
    run: suiteOauthUrl,
  }),
  operation({
    ...common,
    name: 'connections_suite_complete',
    feature: 'suite',
    mcp: { ...common.mcp, hints: { destructive: true, openWorld: true } },
    method: 'POST',
    path: '/v1/connections/suite/complete',
    status: 201,
    summary: 'Finish connecting a suite account',
    description:
      'Takes the parameters that the provider sent to the callback page. Each `state` works once, for the user who started.',
    input: suiteSchema.SuiteCompleteInput,
    output: schema.Connection,
    errors: [409, 503],
    run: suiteComplete,
  }),
  operation({
    ...common,
    name: 'connections_suite_account',
    feature: 'suite',
    method: 'GET',
    path: '/v1/connections/suite/accounts/{connectionId}',
    status: 200,
    summary: 'Get the account of a suite connection, and its services',
    input: suiteSchema.ByConnectionId,
    output: suiteSchema.SuiteAccount,
    run: suiteAccount,
  }),
  operation({
    ...common,
    name: 'connections_suite_services_patch',
    feature: 'suite',
    method: 'PATCH',
    path: '/v1/connections/suite/accounts/{connectionId}/services',
    status: 200,
    summary: 'Switch services of a suite connection on or off',
    description:
      'A service that the owner has not granted is 422 `service_not_granted`: connect again with `connection_id`.',
    input: suiteSchema.SuiteServicesInput,
    output: suiteSchema.SuiteAccount,
    run: patchSuiteServices,
  }),
] as const;

const messaging = [
  operation({
    ...common,
    name: 'connections_messaging_config',
    method: 'GET',
    path: '/v1/connections/messaging/config',
    status: 200,
    summary: 'Get whether messaging accounts can be connected, and how',
    input: NoInput,
    output: messagingSchema.MessagingConfigOutput,
    run: messagingConfig,
  }),
  operation({
    ...common,
    name: 'connections_messaging_oauth_url',
    feature: 'messaging_signup',
    method: 'POST',
    path: '/v1/connections/messaging/oauth-url',
    status: 200,
    summary: "Start the messaging provider's embedded signup",
    input: messagingSchema.MessagingOauthUrlInput,
    output: schema.OauthUrl,
    errors: [503],
    run: messagingOauthUrl,
  }),
  operation({
    ...common,
    name: 'connections_messaging_complete',
    feature: 'messaging_signup',
    mcp: { ...common.mcp, hints: { openWorld: true } },
    method: 'POST',
    path: '/v1/connections/messaging/complete',
    status: 201,
    summary: 'Finish the embedded signup',
    description: 'The ids come from the signup page; they are looked up before anything is saved.',
    input: messagingSchema.MessagingCompleteInput,
    output: schema.Connection,
    errors: [503],
    run: messagingComplete,
  }),
  operation({
    ...common,
    name: 'connections_messaging_manual',
    feature: 'messaging',
    mcp: { ...common.mcp, hints: { openWorld: true } },
    method: 'POST',
    path: '/v1/connections/messaging/manual',
    status: 201,
    summary: 'Connect a business account by its credentials',
    description: 'They are tested before they are saved; 422 `credentials_rejected` names the reason of the API.',
    input: messagingSchema.MessagingManualInput,
    output: schema.Connection,
    errors: [503],
    run: messagingManual,
  }),
] as const;

export const connectionOperations = [
  operation({ ...crud.list, name: 'connections_list', path: '/v1/connections' }),
  operation({ ...crud.create, name: 'connections_create', path: '/v1/connections' }),
  operation({ ...crud.get, name: 'connections_get', path: '/v1/connections/{id}' }),
  operation({ ...crud.patch, name: 'connections_patch', path: '/v1/connections/{id}' }),
  operation({ ...crud.delete, name: 'connections_delete', path: '/v1/connections/{id}' }),
  operation({ ...crud.credentials, name: 'connections_credentials_get', path: '/v1/connections/{id}/credentials' }),
  operation({
    ...common,
    name: 'connections_usage',
    method: 'GET',
    path: '/v1/connections/{id}/usage',
    status: 200,
    summary: 'List what uses a connection',
    input: schema.ById,
    output: schema.ConnectionUsage,
    run: connectionUsage,
  }),
  operation({ ...legacy(crud.list), name: 'mcp_connections_list', path: '/v1/mcp/connections' }),
  operation({ ...legacy(crud.create), name: 'mcp_connections_create', path: '/v1/mcp/connections' }),
  operation({ ...legacy(crud.get), name: 'mcp_connections_get', path: '/v1/mcp/connections/{id}' }),
  operation({ ...legacy(crud.patch), name: 'mcp_connections_patch', path: '/v1/mcp/connections/{id}' }),
  operation({ ...legacy(crud.delete), name: 'mcp_connections_delete', path: '/v1/mcp/connections/{id}' }),
  operation({
    ...legacy(crud.credentials),
    name: 'mcp_connections_credentials_get',
    path: '/v1/mcp/connections/{id}/credentials',
  }),
  ...suite,
  ...messaging,
] as const;
