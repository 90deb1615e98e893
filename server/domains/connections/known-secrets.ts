import type { Services } from '../../operation/services.ts';
import { setBounded } from '../../platform/bounded-map.ts';
import { AppError } from '../../platform/errors.ts';
import { createRedactor, type Redactor } from '../../platform/secrets/redaction.ts';
import { NO_SECRET } from './document.ts';
import { listConnectionRevisions } from './store.ts';
import { readStored, type StoreServices } from './stored.ts';

/** A shorter value occurs in ordinary text: a user name, a region, a port. */
const SHORTEST_TELLING = 8;
/** How long the values of a connection are kept in memory: many texts are checked one after the other. */
export const VALUES_KEPT_MS = 30_000;
/** The maximum number of connections whose values are kept, of all workspaces. */
const MAX_KEPT = 500;

type Kept = { revision: number; values: readonly string[]; until: number };

/** The values by secret store, because containers of one process share nothing. */
const keptBy = new WeakMap<Services['secrets'], Map<string, Kept>>();

type Scope = { tenantId: string; projectId: string };

/**
 * Returns whether a text holds a credential of a connection that the project sees, in any form that redaction knows. The values
 * themselves never leave this function. Throws AppError 503 when the secret store is away.
 */
export async function readKnownSecrets(services: StoreServices, scope: Scope): Promise<(text: string) => boolean> {
  const redactor = await readSecretRedactor(services, scope, SHORTEST_TELLING);
  return text => redactor.text(text) !== text;
}

/**
 * Returns a function that redacts the credentials of all connections that the project sees. Values with fewer than
 * `shortest` characters are not redacted, nor those that occur in every text. Throws AppError 503 if the secret store is
 * unavailable.
 */
export async function readSecretRedactor(
  services: StoreServices,
  { tenantId, projectId }: Scope,
  shortest = 0,
): Promise<Redactor> {
  const kept = keptBy.get(services.secrets) ?? new Map<string, Kept>();
  keptBy.set(services.secrets, kept);
  dropExpired(kept, services.clock.now());
  const values: string[] = [];
  for (const { id, rotatedAt } of await listConnectionRevisions(services.prisma, { tenantId, projectId })) {
    values.push(...(await secretsOf(services, kept, { tenantId, projectId, connectionId: id }, rotatedAt.getTime())));
  }
  return createRedactor(values.filter(value => value.length >= shortest && value !== NO_SECRET));
}

function dropExpired(kept: Map<string, Kept>, now: number): void {
  for (const [key, { until }] of kept) if (now >= until || now < until - VALUES_KEPT_MS) kept.delete(key);
}

/** Returns the values of a connection, from memory if the row still names the same secret. */
async function secretsOf(
  services: StoreServices,
  kept: Map<string, Kept>,
  ref: Parameters<typeof readStored>[1],
  revision: number,
): Promise<readonly string[]> {
  const key = `${ref.tenantId} ${ref.connectionId}`;
  const present = kept.get(key);
  if (present?.revision === revision) return present.values;
  const stored = await readValues(services, ref);
  if (stored === null) return [];
  const until = services.clock.now() + VALUES_KEPT_MS;
  setBounded(kept, key, { ...stored, until }, MAX_KEPT);
  return stored.values;
}

async function readValues(
  services: StoreServices,
  ref: Parameters<typeof readStored>[1],
): Promise<Pick<Kept, 'revision' | 'values'> | null> {
  try {
    const stored = await readStored(services, ref);
    return stored && { revision: stored.row.rotatedAt.getTime(), values: Object.values(stored.document.values) };
  } catch (error) {
    // A connection whose secret is lost has none to protect.
    if (error instanceof AppError && error.status === 409) return null;
    throw error;
  }
}
