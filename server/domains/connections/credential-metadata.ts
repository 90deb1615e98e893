import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { notFound } from '../../platform/errors.ts';
import type { ById, CredentialMetadata } from './schemas.ts';
import { readStored } from './stored.ts';

/**
 * GET /v1/connections/{id}/credentials: the names, and when each secret was set. Nothing of the secrets, not their length or last letters
 * either: those of a short one say too much. AppError 404; 503 when the secret store is away; 409 when it has lost the secret.
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
