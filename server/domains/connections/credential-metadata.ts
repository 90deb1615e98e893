import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { notFound } from '../../platform/errors.ts';
import type { ById, CredentialMetadata } from './schemas.ts';
import { readStored } from './stored.ts';

/**
 * GET /v1/connections/{id}/credentials: the names, and when each secret was set. Reveals nothing of the secrets, not
 * even their length or last letters, which would say too much about a short one. Throws AppError 404; 503 if the secret store
 * is unavailable; 409 if it has lost the secret.
 */
export async function credentialMetadata(
  { principal, services }: Context,
  { id }: z.output<typeof ById>,
): Promise<z.input<typeof CredentialMetadata>> {
  const { tenantId, projectId } = principal;
  const stored = await readStored(services, { tenantId, projectId, connectionId: id });
  if (stored === null) throw notFound('Connection');
  const { row, document } = stored;
  const credentials = Object.keys(document.values).map(name => ({
    name,
    set_at: isoTimestamp(document.setAt.get(name) ?? row.rotatedAt.getTime()),
  }));
  return { credentials };
}
