import type { z } from 'zod';
import type { Context } from '../../api/context.ts';
import { saveNew } from './save-new.ts';
import type { Connection, CreateConnectionInput } from './schemas.ts';
import { toConnection } from './view.ts';

/** POST /v1/connections. Its secrets are in no answer, this one included. AppError 503 when the secret store is away. */
export async function createConnection(
  { principal, services }: Context,
  input: z.output<typeof CreateConnectionInput>,
): Promise<z.input<typeof Connection>> {
  const row = await saveNew(services, {
    tenantId: principal.tenantId,
    name: input.display_name,
    provider: input.provider,
    service: input.service,
    values: input.credentials,
    config: input.config ?? {},
    account: null,
    expiresAt: null,
    createdBy: principal.userId,
  });
  return toConnection({ ...row, used_by: 0 });
}
