import type { Outputs } from '../trpc/provider.tsx';

export type Server = Outputs['mcp_servers_list']['servers'][number];
export type ServerDetail = Outputs['mcp_servers_get'];
export type Tool = NonNullable<ServerDetail['discovered']>['tools'][number];
export type Instance = Outputs['mcp_instances_list']['instances'][number];
export type InstanceDetail = Outputs['mcp_instances_get'];
export type AuthMode = Server['auth_mode'];

/** The ways to send credentials, most common first. */
export const authModes: readonly { value: AuthMode; label: string; hint: string }[] = [
  { value: 'none', label: 'None', hint: 'No authentication' },
  { value: 'token', label: 'Token', hint: 'Bearer token from the credential token, api_key or access_token' },
  { value: 'header', label: 'Headers', hint: 'Each credential is sent as the header of the same name' },
  { value: 'oauth', label: 'OAuth', hint: 'The access token of a connected account' },
];

export const authModeLabel = (mode: AuthMode) => authModes.find(each => each.value === mode)?.label ?? mode;
