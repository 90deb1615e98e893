export const roles = ['project_viewer', 'project_contributor', 'tenant_admin'] as const;
/** Ordered: each role includes those before it. */
export type Role = (typeof roles)[number];
export const projectRoles = ['project_viewer', 'project_contributor'] as const;
export type ProjectRole = (typeof projectRoles)[number];

/** Returns whether `role` includes `needed`. */
export function hasRole(role: Role, needed: Role | 'member'): boolean {
  return needed === 'member' || roles.indexOf(role) >= roles.indexOf(needed);
}

/** Every scope (docs/specification/authentication.md#scopes). */
export const scopes = [
  'workflow:read',
  'workflow:write',
  'workflow:run',
  'task:complete',
  'webhook:manage',
  'connection:manage',
  'mcp:read',
  'mcp:manage',
  'mcp:execute',
  'ai:use',
  'memory:use',
  'agent:read',
  'agent:manage',
  'analytics:read',
  'billing:read',
  'billing:manage',
  'pat:manage',
] as const;
export type Scope = (typeof scopes)[number];
/** Scopes of planned features: tokens may carry them, but no operation requires them yet. */
export const reservedScopes: readonly Scope[] = [];
