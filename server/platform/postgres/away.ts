/**
 * PostgreSQL classes 08 (connection), 53 (resources), 57 (shutdown, statements that take too long) and 58 (its disk); Node's and Prisma's words
 * for an unreachable server.
 */
const databaseAway =
  /^(08...|53...|58...|57P0[1-5]|57014|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|ETIMEDOUT|P1001|P1002|P1008|P1017|P2024)$/;
/** What pg says without a code when its pool or its connection is gone. */
const connectionLost =
  /timeout exceeded when trying to connect|Connection terminated|connection timeout|Query read timeout|: File too large|Client has encountered a connection error/i;

/** Whether something was thrown because the database is away or does not answer in time. */
export function isDatabaseAway(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if ('code' in thrown && typeof thrown.code === 'string' && databaseAway.test(thrown.code)) return true;
  if (connectionLost.test(thrown.message)) return true;
  return isDatabaseAway(thrown.cause);
}
