import type { Inputs } from '../trpc/provider.tsx';

export type ScopeName = Inputs['pats_create']['scopes'][number];

/** Every scope (docs/specification/authentication.md#scopes) with its meaning. The type requires all of them. */
const meanings: Record<ScopeName, string> = {
  'workflow:read': 'Read workflows, runs and tasks',
  'workflow:write': 'Edit and publish workflows; manage projects',
  'workflow:run': 'Start, pause, resume and stop runs',
  'task:complete': 'Answer human tasks',
  'webhook:manage': 'Manage inbound webhooks',
  'connection:manage': 'Manage connections and their credentials',
  'mcp:read': 'Read MCP servers and instances',
  'mcp:manage': 'Manage MCP servers and instances',
  'mcp:execute': 'Start runs that call MCP tools or send HTTP requests',
  'ai:use': 'Start runs that ask language models; read the model catalog',
  'memory:use': 'Search, add, review and delete memories',
  'agent:read': 'Read agents',
  'agent:manage': 'Create, change, publish and archive agents',
  'analytics:read': 'Read analytics',
  'billing:read': 'Read plans, usage and payments',
  'billing:manage': 'Change plans and top up',
  'pat:manage': 'Manage API keys, members and invitations',
};

export const scopeList = Object.entries(meanings) as [ScopeName, string][];
