import { AppError } from '../../platform/errors.ts';
import { createRedactor } from '../../platform/secrets/redaction.ts';
import { NO_SECRET } from './document.ts';
import { listConnectionIds } from './store.ts';
import { readStored, type StoreServices } from './stored.ts';

/** A shorter value stands in ordinary text: a user name, a region, a port. */
const SHORTEST_TELLING = 8;

/**
 * Returns whether a text holds a credential of a connection that the project sees, in any form that redaction knows. The values
 * themselves never leave this function. AppError 503 when the secret store is away.
 */
export async function readKnownSecrets(
  services: StoreServices,
  { tenantId, projectId }: { tenantId: string; projectId: string },
): Promise<(text: string) => boolean> {
  const values: string[] = [];
  for (const connectionId of await listConnectionIds(services.prisma, { tenantId, projectId })) {
    values.push(...(await secretsOf(services, { tenantId, projectId, connectionId })));
  }
  const redactor = createRedactor(values.filter(value => value.length >= SHORTEST_TELLING && value !== NO_SECRET));
  return text => redactor.text(text) !== text;
}

async function secretsOf(services: StoreServices, ref: Parameters<typeof readStored>[1]): Promise<string[]> {
  try {
    const stored = await readStored(services, ref);
    return stored === null ? [] : Object.values(stored.document.values);
  } catch (error) {
    // A connection whose secret is lost has none to protect.
    if (error instanceof AppError && error.status === 409) return [];
    throw error;
  }
}
