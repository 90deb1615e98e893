'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Reloads all of billing: a plan, a payment or a code changes balances, status, ledger and payments together. */
export function useRefreshBilling(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) =>
          Array.isArray(path) && typeof path[0] === 'string' && /^(billing|payment)_/.test(path[0]),
      }),
    [queries],
  );
}
