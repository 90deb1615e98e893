import type { Principal } from '../../operation/context.ts';
import type { Role } from '../../orchestrator/ports/authority.ts';
import { forbidden } from '../../platform/errors.ts';

/** The visibility of a memory: one person in a project, the project, or the whole workspace may see it. */
export const VISIBILITIES = ['private', 'project', 'workspace'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** The workspace, project and person whose memories a query may reach. They always come from the credential. */
export type MemoryScope = { tenantId: string; projectId: string; userId: string };
/** Restricts a query further. Null and absent fields do not restrict it. */
export type Narrowing = {
  workflowId?: string | null | undefined;
  agentId?: string | null | undefined;
  visibility?: Visibility | undefined;
  /** The visibilities to search; absent for all. */
  visibilities?: readonly Visibility[] | undefined;
};
/** The columns of a row that hold its scope. */
export type ScopeColumns = { projectId: string | null; userId: string | null };

export const scopeOf = ({ tenantId, projectId, userId }: Principal): MemoryScope => ({ tenantId, projectId, userId });

/** Collects the values of a statement. `add` returns the parameter for a value. */
export type Parameters = { values: unknown[]; add(value: unknown): string };
export function parameters(): Parameters {
  const values: unknown[] = [];
  return { values, add: value => `$${values.push(value)}` };
}

/**
 * Returns the condition for the rows of `memory_episodes`, `memory_chunks`, `memory_items` and `memory_bits` that a principal may see. Every
 * statement on these tables contains it. A narrowing is added with AND, so that no field of a request can widen the condition.
 */
export function visibleTo(alias: string, scope: MemoryScope, to: Parameters, narrowing: Narrowing = {}): string {
  const conditions = [
    `${alias}.tenant_id = ${to.add(scope.tenantId)}::text`,
    `(${alias}.project_id IS NULL OR ${alias}.project_id = ${to.add(scope.projectId)}::uuid)`,
    `(${alias}.user_id IS NULL OR ${alias}.user_id = ${to.add(scope.userId)}::uuid)`,
  ];
  const { workflowId, agentId, visibility, visibilities } = narrowing;
  if (workflowId != null) {
    conditions.push(`(${alias}.workflow_id IS NULL OR ${alias}.workflow_id = ${to.add(workflowId)}::uuid)`);
  }
  if (agentId != null) conditions.push(`(${alias}.agent_id IS NULL OR ${alias}.agent_id = ${to.add(agentId)}::uuid)`);
  if (visibility !== undefined) conditions.push(conditionOf(alias, visibility));
  if (visibilities !== undefined) {
    conditions.push(`(${visibilities.map(each => `(${conditionOf(alias, each)})`).join(' OR ') || 'false'})`);
  }
  return conditions.join(' AND ');
}

/** Returns whether a row satisfies the condition of `visibleTo`. */
export const isVisibleTo = ({ projectId, userId }: ScopeColumns, scope: MemoryScope): boolean =>
  (projectId === null || projectId === scope.projectId) && (userId === null || userId === scope.userId);

function conditionOf(alias: string, visibility: Visibility): string {
  switch (visibility) {
    case 'private':
      return `${alias}.user_id IS NOT NULL`;
    case 'project':
      return `${alias}.user_id IS NULL AND ${alias}.project_id IS NOT NULL`;
    case 'workspace':
      return `${alias}.user_id IS NULL AND ${alias}.project_id IS NULL`;
  }
}

export function visibilityOf({ projectId, userId }: ScopeColumns): Visibility {
  if (userId !== null) return 'private';
  return projectId === null ? 'workspace' : 'project';
}

/** Returns the columns of a row that the principal writes with this visibility. */
export const columnsOf = ({ projectId, userId }: MemoryScope, visibility: Visibility): ScopeColumns => ({
  projectId: visibility === 'workspace' ? null : projectId,
  userId: visibility === 'private' ? userId : null,
});

const WRITERS: Readonly<Record<Visibility, readonly Role[]>> = {
  private: ['project_viewer', 'project_contributor', 'tenant_admin'],
  project: ['project_contributor', 'tenant_admin'],
  workspace: ['tenant_admin'],
};

/** Returns whether a role may write memories of this visibility. */
export const mayWrite = (role: Role, visibility: Visibility): boolean => WRITERS[visibility].includes(role);

/** Throws AppError 403 `insufficient_role` unless the principal may write memories of this visibility. */
export function requireWriter({ role }: Principal, visibility: Visibility): void {
  if (mayWrite(role, visibility)) return;
  const needed = visibility === 'workspace' ? 'tenant_admin' : 'project_contributor';
  throw forbidden(`Memories of the ${visibility} need the role ${needed}.`, 'insufficient_role');
}
