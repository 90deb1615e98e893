import type { Services } from '../../operation/services.ts';
import { AppError, conflict, notFound } from '../../platform/errors.ts';
import { noteSecrets } from '../../platform/secrets/in-use.ts';
import { createRedactor } from '../../platform/secrets/redaction.ts';
import { type CredentialDocument, connectionSecret, decodeDocument, documentOf, encodeDocument } from './document.ts';
import { withConnectionLock } from './lock-queries.ts';
import {
  type ConnectionChange,
  type ConnectionKey,
  type ConnectionRef,
  type ConnectionRow,
  findConnection,
  updateConnection,
} from './store.ts';

export type StoreServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock'>;
/** A row and its secret, written together. */
export type StoredConnection = { row: ConnectionRow; document: CredentialDocument };
/** `document` null: the secret store has none. */
type MaybeLost = { row: ConnectionRow; document: CredentialDocument | null };

/**
 * Returns the connection with its secret; null if the tenant does not have it. Secret and row are two writes, and
 * between them a reader could combine a new key with an old base URL. So both name a revision, and if the two differ
 * the reader waits for the writer. Throws AppError 503 if the secret store is unavailable, 409 `connection_incomplete` if it
 * has lost the secret.
 */
export async function readStored(services: StoreServices, ref: ConnectionRef): Promise<StoredConnection | null> {
  const stored = await readBoth(services, ref);
  if (stored === null || agrees(stored)) return stored && present(stored);
  return withConnectionLock(services, ref.connectionId, () => readHeld(services, ref));
}

/**
 * Returns the same for the holder of the connection's lock. A difference of the revisions was then left by a crash: the
 * secret counts, and the row is corrected.
 */
export async function readHeld(services: StoreServices, ref: ConnectionRef): Promise<StoredConnection | null> {
  const stored = await readForWriting(services, ref);
  return stored && present(stored);
}

/** Returns the same for a caller that is about to replace the secret: a lost secret is null instead of an error. */
export async function readForWriting(services: StoreServices, ref: ConnectionRef): Promise<MaybeLost | null> {
  const stored = await readBoth(services, ref);
  if (stored === null || agrees(stored)) return stored;
  const { row, document } = stored;
  const rotatedAt = new Date(document?.revision ?? row.rotatedAt.getTime());
  const secret = { keys: Object.keys(document?.values ?? {}), rotatedAt, expiresAt: row.expiresAt };
  // The document also has the origins of its secret: with the row's origins, a new key could be sent to the former
  // address.
  return { row: await change(services, row, { secret, origins: document?.origins ?? undefined }), document };
}

/**
 * Replaces the secret's values, together with other changes of the row. For the holder of the connection's lock. The
 * secret is written first: if that fails, nothing has changed.
 */
export async function replaceSecret(
  services: StoreServices,
  { row, document: previous }: MaybeLost,
  values: Readonly<Record<string, string>>,
  more: Omit<ConnectionChange, 'secret' | 'expiresAt'> & { expiresAt?: Date | null } = {},
): Promise<StoredConnection> {
  const revision = Math.max(services.clock.now(), row.rotatedAt.getTime() + 1);
  const document = documentOf(values, { revision, origins: more.origins ?? row.origins }, previous);
  await writeDocument(services, { tenantId: row.tenantId, connectionId: row.id }, document);
  const { expiresAt = row.expiresAt, ...others } = more;
  const secret = { keys: Object.keys(values), rotatedAt: new Date(revision), expiresAt };
  return { row: await change(services, row, { ...others, secret }), document };
}

/** Writes a document to the secret store. Secrets are redacted from errors of a store that quotes its input. */
export async function writeDocument(
  { secrets }: Pick<Services, 'secrets'>,
  { tenantId, connectionId }: ConnectionKey,
  document: CredentialDocument,
): Promise<void> {
  noteSecrets(Object.values(document.values));
  try {
    await secrets.put(tenantId, connectionSecret(connectionId), encodeDocument(document));
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { text } = createRedactor(Object.values(document.values));
    throw new Error(
      `A connection was not stored: ${text(error instanceof Error ? String(error.stack) : String(error))}`,
    );
  }
}

/** Changes only the row. For the holder of the connection's lock. */
export async function change(
  services: StoreServices,
  row: ConnectionRow,
  changes: ConnectionChange,
): Promise<ConnectionRow> {
  const at = new Date(services.clock.now());
  const ref = { tenantId: row.tenantId, connectionId: row.id, rotatedAt: row.rotatedAt, at };
  const changed = await updateConnection(services.prisma, ref, changes);
  if (changed === null) throw notFound('Connection');
  return changed;
}

async function readBoth({ prisma, secrets }: StoreServices, ref: ConnectionRef): Promise<MaybeLost | null> {
  const row = await findConnection(prisma, ref);
  if (row === null) return null;
  const text = await secrets.get(ref.tenantId, connectionSecret(ref.connectionId));
  if (text !== null) {
    const document = decodeDocument(text);
    noteSecrets(Object.values(document.values));
    return { row, document };
  }
  // Deleted between the two reads, or lost.
  return (await findConnection(prisma, ref)) === null ? null : { row, document: null };
}

const agrees = ({ row, document }: MaybeLost) =>
  document === null || document.revision === null || document.revision === row.rotatedAt.getTime();

function present({ row, document }: MaybeLost): StoredConnection {
  if (document !== null) return { row, document };
  throw conflict(
    'connection_incomplete',
    `The credentials of the connection "${row.name}" are not in the secret store: enter them again.`,
  );
}
