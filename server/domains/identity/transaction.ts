import type { Services } from '../../contract/services.ts';
import type { Prisma } from '../../platform/postgres/generated/client.ts';

/**
 * Runs `work` in one READ COMMITTED transaction. The limits are wider than Prisma's (2 s and 5 s): these transactions
 * queue behind each other on a tenant's row, and waiting is better than failing.
 */
export function inTransaction<T>(
  { prisma }: Pick<Services, 'prisma'>,
  work: (tx: Prisma.TransactionClient) => Promise<T>,
): Promise<T> {
  return prisma.$transaction(work, { maxWait: 10_000, timeout: 20_000 });
}

/** Whether Prisma refused a write because a unique value is taken (P2002). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'P2002';
}

/** Prisma's form of "after this row, newest first"; nothing where the list begins. `id` names the second sort column. */
export function olderThan<Column extends string>(id: Column, key: readonly [number, string] | null) {
  if (key === null) return {};
  const createdAt = new Date(key[0]);
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, [id]: { lt: key[1] } }] };
}
