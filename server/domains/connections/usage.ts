import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { connectionRef, requireConnection } from './get.ts';
import type { ById, ConnectionUsage } from './schemas.ts';
import { findUsers } from './usage-queries.ts';

type Usage = z.input<typeof ConnectionUsage>;

/**
 * GET /v1/connections/{id}/usage: what uses the connection: MCP instances, profiles and workflows. Names only those of
 * the request's project, and counts the others. Throws AppError 404.
 */
export async function connectionUsage(ctx: Context, { id }: z.output<typeof ById>): Promise<Usage> {
  return usageOf(ctx, id);
}

/** Returns the same to other operations: a deletion, or a move into one project, is refused because of these uses. */
export async function usageOf(ctx: Context, id: string): Promise<Usage> {
  const { provider, service, projectId: owner } = await requireConnection(ctx, id);
  const { projectId } = ctx.principal;
  // A model key serves every step that names its provider's models; steps do not refer to it by id.
  const modelsOf = service === 'llm' ? provider : null;
  const users = await findUsers(ctx.services.pool, connectionRef(ctx, id), { modelsOf, owner });
  const here = users.filter(user => user.project_id === projectId);
  const named = ({ id: of, name }: { id: string; name: string }) => ({ id: of, name });
  return {
    total: users.length,
    instances: here.filter(user => user.kind === 'instance').map(named),
    profiles: here
      .filter(user => user.kind === 'profile')
      .map(user => ({ ...named(user), instance_id: user.instance_id, instance_name: user.instance_name })),
    workflows: here.filter(user => user.kind === 'workflow').map(named),
    elsewhere: users.length - here.length,
  };
}
