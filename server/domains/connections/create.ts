import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { impliedOrigins, originsOf } from './origins.ts';
import { requireSharing } from './ownership.ts';
import { saveNew } from './save-new.ts';
import type { Connection, CreateConnectionInput } from './schemas.ts';
import { toConnection } from './view.ts';

/**
 * POST /v1/connections. No answer contains its secrets, not even this one. Throws AppError 403 for sharing it without being a
 * `tenant_admin`, 503 if the secret store is unavailable.
 */
export async function createConnection(
  ctx: Context,
  input: z.output<typeof CreateConnectionInput>,
): Promise<z.input<typeof Connection>> {
  const { principal, services } = ctx;
  requireSharing(ctx, input.shared);
  const config = input.config ?? {};
  const row = await saveNew(services, {
    tenantId: principal.tenantId,
    projectId: input.shared === true ? null : principal.projectId,
    name: input.display_name,
    provider: input.provider,
    service: input.service,
    values: input.credentials,
    config,
    origins:
      input.origins === undefined ? impliedOrigins(input.provider, input.service, config) : originsOf(input.origins),
    account: null,
    expiresAt: null,
    createdBy: principal.userId,
  });
  return toConnection({ ...row, usedBy: 0 });
}
