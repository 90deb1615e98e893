import type { Context } from '../../operation/context.ts';
import { forbidden } from '../../platform/errors.ts';
import type { ConnectionRow } from './store.ts';

/**
 * Throws AppError 403 unless the caller is a `tenant_admin`, since only a `tenant_admin` decides whether a connection
 * is shared with the workspace.
 */
export function requireSharing({ principal }: Context, shared: boolean | undefined): void {
  if (shared === undefined || principal.role === 'tenant_admin') return;
  throw forbidden('Only a tenant_admin can share a connection with the workspace.', 'insufficient_role');
}

/** Throws AppError 403 unless the caller may change the connection. Only a `tenant_admin` may change one that every project uses. */
export function requireManageable({ principal }: Context, row: Pick<ConnectionRow, 'name' | 'projectId'>): void {
  if (row.projectId !== null || principal.role === 'tenant_admin') return;
  const message = `“${row.name}” is shared with the whole workspace: only a tenant_admin changes or deletes it.`;
  throw forbidden(message, 'insufficient_role');
}
