import { z } from 'zod';
import { operation } from '../../operation/operation.ts';
import { CommandOutput } from '../runs/start/schemas.ts';
import { startScopes } from '../runs/start/step-scopes.ts';
import { getAgentSettings, patchAgentSettings } from './approval-settings.ts';
import { archiveAgent } from './archive.ts';
import { createAgent } from './create.ts';
import { listAgentGrants, revokeAgentGrant } from './grants/manage.ts';
import { patchAgent } from './patch.ts';
import { getAgent, listAgents } from './read.ts';
import { runAgent } from './run.ts';
import * as schema from './schemas.ts';
import { validateAgent } from './validate.ts';
import { listAgentVersions } from './versions.ts';

const common = { tag: 'Agents', feature: 'agents', mcp: { group: 'chat' } } as const;
const read = { ...common, access: 'project_viewer', scope: 'agent:read' } as const;
const manage = { ...common, access: 'project_contributor', scope: 'agent:manage' } as const;

/** The operations on agents. The runs of an agent are under /v1/workflows/{id}. */
export const agentOperations = [
  operation({
    ...read,
    name: 'agents_list',
    method: 'GET',
    path: '/v1/agents',
    status: 200,
    summary: "List the project's agents, newest first, each with its last runs",
    input: schema.ListAgentsInput,
    output: schema.ListAgentsOutput,
    run: listAgents,
  }),
  operation({
    ...manage,
    name: 'agents_create',
    method: 'POST',
    path: '/v1/agents',
    status: 201,
    summary: 'Create an agent: a model with instructions, tools and limits',
    description: 'The settings are checked like those of a published step: 422 `invalid_agent` says what is wrong.',
    input: schema.CreateAgentInput,
    output: schema.AgentSchema,
    run: createAgent,
  }),
  operation({
    ...read,
    name: 'agents_get',
    method: 'GET',
    path: '/v1/agents/{id}',
    status: 200,
    summary: 'Read an agent',
    description: 'The `ETag` header (also the field `etag`) names its state, for `If-Match`.',
    input: schema.AgentRef,
    output: schema.AgentSchema,
    run: getAgent,
  }),
  operation({
    ...manage,
    name: 'agents_patch',
    method: 'PATCH',
    path: '/v1/agents/{id}',
    status: 200,
    summary: 'Change an agent; each change is a new version',
    description: 'Active runs keep the version that they started with.',
    input: schema.PatchAgentInput,
    output: schema.AgentSchema,
    errors: [409, 412],
    headers: ['If-Match'],
    run: patchAgent,
  }),
  operation({
    ...manage,
    name: 'agents_archive',
    method: 'DELETE',
    path: '/v1/agents/{id}',
    status: 204,
    summary: 'Archive an agent',
    description:
      'The agent can no longer be changed or started; its versions and runs stay readable, and active runs continue. 409 `agent_in_use` while steps of workflows name it, unless `force`.',
    input: schema.ArchiveAgentInput,
    output: z.void(),
    errors: [409],
    run: archiveAgent,
  }),
  operation({
    ...read,
    name: 'agents_list_versions',
    method: 'GET',
    path: '/v1/agents/{id}/versions',
    status: 200,
    summary: 'List the versions of an agent with their settings, newest first',
    input: schema.ListAgentVersionsInput,
    output: schema.ListAgentVersionsOutput,
    run: listAgentVersions,
  }),
  operation({
    ...read,
    name: 'agents_validate',
    method: 'POST',
    path: '/v1/agents/{id}/validate',
    status: 200,
    summary: 'Check an agent as saving would, with these settings or its own; saves nothing',
    description: 'Checks whether the model has a key, and whether the tools exist in the published versions.',
    input: schema.ValidateAgentInput,
    output: schema.AgentReport,
    mcp: { ...common.mcp, hints: { readOnly: true } },
    run: validateAgent,
  }),
  operation({
    ...read,
    name: 'agents_list_grants',
    method: 'GET',
    path: '/v1/agents/{id}/grants',
    status: 200,
    summary: 'List what the agent may do without asking because a person has allowed it for good, newest first',
    description: 'Such a grant is given with the answer to a task (`POST …/tasks/{task_id}/complete`).',
    input: schema.ListGrantsInput,
    output: schema.ListGrantsOutput,
    run: listAgentGrants,
  }),
  operation({
    ...manage,
    name: 'agents_revoke_grant',
    method: 'DELETE',
    path: '/v1/agents/{id}/grants/{grant_id}',
    status: 204,
    summary: 'Withdraw a grant: the agent asks again, from its next call on',
    input: schema.RevokeGrantInput,
    output: z.void(),
    run: revokeAgentGrant,
  }),
  operation({
    ...read,
    name: 'agents_get_settings',
    method: 'GET',
    path: '/v1/agents/settings',
    status: 200,
    summary: "Read the approvals that the workspace has decided on for its agents' tools",
    input: schema.AgentSettingsInput,
    output: schema.AgentSettingsSchema,
    mcp: { group: 'pat' },
    run: getAgentSettings,
  }),
  operation({
    ...manage,
    access: 'tenant_admin',
    name: 'agents_patch_settings',
    method: 'PATCH',
    path: '/v1/agents/settings',
    status: 200,
    summary: "Decide on the approvals of agents' tools, for the whole workspace",
    description:
      'An approval is the default of entries of `tools` without one, and the least for those with one: of the two, the stricter one counts. It counts for agents that begin their work afterwards.',
    input: schema.PatchAgentSettingsInput,
    output: schema.AgentSettingsSchema,
    mcp: { group: 'pat', agents: false },
    run: patchAgentSettings,
  }),
  operation({
    ...common,
    access: 'project_viewer',
    scope: 'ai:use',
    name: 'agents_run',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/agents/{id}/runs',
    status: 202,
    summary: 'Start a run of an agent',
    description: `The run has the rights of the caller, which are looked up again at each call of a tool: calls that need a right which the caller has lost fail
with \`authority_lost\`. For a viewer it only reads; every other call waits for the approval of a contributor. The run is read, paused and stopped under
\`/v1/workflows/{id}\`.`,
    scopesWhere: startScopes.filter(({ scope }) => scope !== 'ai:use'),
    input: schema.RunAgentInput,
    output: CommandOutput,
    errors: [409, 503],
    headers: ['Idempotency-Key', 'traceparent'],
    mcp: { ...common.mcp, hints: { openWorld: true, destructive: true } },
    run: runAgent,
  }),
] as const;
