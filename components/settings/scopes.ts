import type { Inputs } from '../trpc/provider.tsx';

export type ScopeName = Inputs['pats_create']['scopes'][number];

/** Every scope (decisions.md, Tenancy) with what it allows. The type makes it an error to leave one out. */
const meanings: Record<ScopeName, string> = {
  'workflow:read': 'Read workflows, runs and tasks',
  'workflow:write': 'Edit and publish workflows; manage projects',
  'workflow:run': 'Start, pause, resume and stop runs',
  'task:complete': 'Answer human tasks',
  'webhook:manage': 'Manage inbound webhooks',
  'connection:manage': 'Manage connections and their credentials',
  'mcp:read': 'Read MCP servers and instances',
  'mcp:manage': 'Manage MCP servers and instances',
  'mcp:execute': 'Call MCP tools',
  'ai:use': 'Use language models, chat and autopilot',
  'memory:use': 'Search and index memory',
  'agent:read': 'Read agents',
  'agent:manage': 'Manage agents',
  'analytics:read': 'Read analytics',
  'billing:read': 'Read plans, usage and payments',
  'billing:manage': 'Change plans and top up',
  'pat:manage': 'Manage API keys, members and invitations',
};

export const scopeList = Object.entries(meanings) as [ScopeName, string][];
