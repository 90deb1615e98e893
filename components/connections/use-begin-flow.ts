'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { toastError } from '../ui/toaster.tsx';

/** Begins a provider's flow and opens the provider's page. The callback page continues the flow. */
export function useBeginFlow() {
  const trpc = useTRPC();
  const openProvider = {
    onSuccess: ({ authorization_url: url }: { authorization_url: string }) => window.location.assign(url),
  };
  const suite = useMutation(trpc.connections_suite_oauth_url.mutationOptions({ ...openProvider, onError: toastError }));
  const messaging = useMutation(
    trpc.connections_messaging_oauth_url.mutationOptions({ ...openProvider, onError: toastError }),
  );
  return { suite, messaging };
}
