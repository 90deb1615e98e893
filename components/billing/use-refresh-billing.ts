'use client';
import { useQueryClient } from '@tanstack/react-query';

/** Reads anew all that billing shows: a plan, a payment or a code changes balances, status, ledger and payments together. */
export function useRefreshBilling(): () => Promise<void> {
  const queries = useQueryClient();
  return () =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [path] }) =>
        Array.isArray(path) && typeof path[0] === 'string' && /^(billing|payment)_/.test(path[0]),
    });
}
