import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import * as schema from '../schemas.ts';
import { deleteInstance, patchInstance } from './change.ts';
import { createInstance } from './create.ts';
import { createProfile, deleteProfile, listProfiles, patchProfile, setActive } from './profiles.ts';
import { getInstance, listInstances } from './read.ts';
import { resolveInstances } from './resolve.ts';
import { validateInstance } from './validate.ts';

const tag = 'MCP instances';
const read = { tag, access: 'project_contributor', scope: 'mcp:read' } as const;
const manage = { tag, access: 'project_contributor', scope: 'mcp:manage' } as const;

const instances = [
  operation({
    ...read,
    name: 'mcp_instances_list',
    method: 'GET',
    path: '/v1/mcp/instances',
    status: 200,
    summary: "List the project's MCP instances, newest first",
    input: schema.ListInstancesInput,
    output: schema.ListInstancesOutput,
    run: listInstances,
  }),
  operation({
    ...manage,
    name: 'mcp_instances_create',
    method: 'POST',
    path: '/v1/mcp/instances',
    status: 201,
    summary: 'Create an instance: a published server with a connection, for the steps of this project',
    description:
      '`version` pins one; without it the latest is called. `config.headers` are further (not secret) HTTP headers, `config.default_args` arguments for steps that leave them out; the rest is sent with each call as `_meta.config`.',
    input: schema.CreateInstanceInput,
    output: schema.InstanceDetail,
    errors: [409],
    run: createInstance,
  }),
  operation({
    ...read,
    name: 'mcp_instances_resolve',
    method: 'POST',
    path: '/v1/mcp/instances/resolve',
    status: 200,
    summary: 'Resolve what each mcp_call step of a workflow would call now',
    description: 'Takes `workflow_id` (its draft) or a `graph`. Calls nothing.',
    input: schema.ResolveInput,
    output: schema.ResolveOutput,
    errors: [404],
    run: resolveInstances,
  }),
  operation({
    ...read,
    name: 'mcp_instances_get',
    method: 'GET',
    path: '/v1/mcp/instances/{id}',
    status: 200,
    summary: 'Read an instance and where it is used',
    input: schema.InstanceRef,
    output: schema.InstanceDetail,
    run: getInstance,
  }),
  operation({
    ...manage,
    name: 'mcp_instances_patch',
    method: 'PATCH',
    path: '/v1/mcp/instances/{id}',
    status: 200,
    summary: 'Change name, version, connection or config',
    description:
      'Calls that start from now on use it. `version: null` follows the latest, `connection_id: null` unbinds.',
    input: schema.PatchInstanceInput,
    output: schema.InstanceDetail,
    errors: [409],
    run: patchInstance,
  }),
  operation({
    ...manage,
    name: 'mcp_instances_delete',
    method: 'DELETE',
    path: '/v1/mcp/instances/{id}',
    status: 204,
    summary: 'Delete an instance with its profiles',
    description:
      '409 `instance_in_use` while the draft or the latest version of a workflow calls it, unless `force=true`.',
    input: schema.DeleteInstanceInput,
    output: z.void(),
    errors: [409],
    run: deleteInstance,
  }),
  operation({
    ...manage,
    name: 'mcp_instances_validate',
    method: 'POST',
    path: '/v1/mcp/instances/{id}/validate',
    status: 200,
    summary: 'Check an instance as a step would use it, against the live server',
    input: schema.InstanceRef,
    output: schema.CheckReport,
    errors: [503],
    run: validateInstance,
  }),
] as const;

const profiles = [
  operation({
    ...read,
    name: 'mcp_config_profiles_list',
    method: 'GET',
    path: '/v1/mcp/instances/{id}/config-profiles',
    status: 200,
    summary: "List an instance's config profiles by name",
    input: schema.ListProfilesInput,
    output: schema.ListProfilesOutput,
    run: listProfiles,
  }),
  operation({
    ...manage,
    name: 'mcp_config_profiles_create',
    method: 'POST',
    path: '/v1/mcp/instances/{id}/config-profiles',
    status: 201,
    summary: 'Create a config profile',
    description:
      "While it is active its settings lie over the instance's `config`, and its connection, where it has one, takes the place of the instance's.",
    input: schema.CreateProfileInput,
    output: schema.Profile,
    errors: [409],
    run: createProfile,
  }),
  operation({
    ...manage,
    name: 'mcp_config_profiles_patch',
    method: 'PATCH',
    path: '/v1/mcp/instances/{id}/config-profiles/{profile_id}',
    status: 200,
    summary: 'Change a config profile',
    input: schema.PatchProfileInput,
    output: schema.Profile,
    errors: [409],
    run: patchProfile,
  }),
  operation({
    ...manage,
    name: 'mcp_config_profiles_delete',
    method: 'DELETE',
    path: '/v1/mcp/instances/{id}/config-profiles/{profile_id}',
    status: 204,
    summary: 'Delete a config profile',
    input: schema.ProfileRef,
    output: z.void(),
    run: deleteProfile,
  }),
  operation({
    ...manage,
    name: 'mcp_config_profiles_set_active',
    method: 'POST',
    path: '/v1/mcp/instances/{id}/config-profiles/{profile_id}/set-active',
    status: 200,
    summary: "Make a profile the instance's active one",
    description: '`active: false` makes it inactive: then no profile is.',
    input: schema.SetActiveInput,
    output: schema.Profile,
    run: setActive,
  }),
] as const;

/** The operations on instances and their config profiles. */
export const instanceOperations = [...instances, ...profiles] as const;
