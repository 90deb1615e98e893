import pg from 'pg';
import { Prisma } from './generated/client.ts';

/**
 * PostgreSQL classes 08 (connection), 53 (resources), 57 (shutdown, statements that take too long) and 58 (its disk),
 * and a standby's answer to a write (25006).
 */
const sqlStates = /^(08...|25006|53...|58...|57P0[1-5]|57014)$/;
/** Prisma's codes for an unreachable server. */
const prismaCodes = /^(P1001|P1002|P1008|P1017|P2024)$/;
const connectionKinds: ReadonlySet<unknown> = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout']);
/** Node's codes for an unreachable server. */
const systemCodes = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
/** Messages that only pg uses, when its pool or its connection is lost. */
const connectionLost =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|: File too large|Client has encountered a connection error|servers in DATABASE_URL (accept|answer)/i;

/** Errors of connections to the database. */
const markedErrors = new WeakSet<object>();

/** Records that a connection to the database had this error; returns it. */
export function noteDatabaseError<T>(error: T): T {
  if (error instanceof Error) markedErrors.add(error);
  return error;
}

/**
 * Returns whether something was thrown because the database is unavailable or does not answer in time. Only errors of
 * the database's own clients count: a host that a user named may be unavailable too.
 */
export function isDatabaseAway(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return isAway(thrown) || isDatabaseAway(thrown.cause);
}

function isAway(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof pg.DatabaseError) return sqlStates.test(code) || connectionLost.test(error.message);
  if (error instanceof Prisma.PrismaClientKnownRequestError) return prismaCodes.test(code) || isAwayWithin(error);
  if (markedErrors.has(error) && systemCodes.test(code)) return true;
  return connectionLost.test(error.message);
}

/**
 * Returns whether the adapter's original error means that the database is away, where Prisma has no code for it (P2010: a raw
 * query failed).
 */
function isAwayWithin({ meta }: Prisma.PrismaClientKnownRequestError): boolean {
  const { kind, originalCode } = Object(Object(meta?.driverAdapterError).cause) as Record<string, unknown>;
  return connectionKinds.has(kind) || (typeof originalCode === 'string' && sqlStates.test(originalCode));
}
