'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { toastError } from '../ui/toaster.tsx';

export type Preferences = Outputs['me_notifications_get'];
export type Kind = Preferences['browser'][number];
export type Channel = 'browser' | 'email' | 'webhook';

/** Returns the query for the user's notification preferences in this workspace. */
export function usePreferences() {
  return useQuery(useTRPC().me_notifications_get.queryOptions());
}

/**
 * Changes the kinds of notifications that a channel delivers. The change is shown at once, and reverted if the server
 * refuses it.
 */
export function useChooseKinds() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const key = trpc.me_notifications_get.queryKey();
  return useMutation(
    trpc.me_notifications_patch.mutationOptions({
      // Changes are sent sequentially, because each starts from the result of the previous one.
      scope: { id: 'notification-kinds' },
      onMutate: change => {
        const { browser, email, webhook } = change || {};
        const chosen = { ...(browser && { browser }), ...(email && { email }), ...(webhook && { webhook }) };
        queries.setQueryData(key, old => old && { ...old, ...chosen });
      },
      onError: error => {
        toastError(error);
        return queries.invalidateQueries({ queryKey: key });
      },
    }),
  );
}

/** Sets up, replaces or removes the webhook. The result contains its new secret. */
export function useChangeWebhook() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation(
    trpc.me_notifications_patch.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.me_notifications_get.queryFilter()),
    }),
  );
}
