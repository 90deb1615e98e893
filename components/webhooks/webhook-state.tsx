'use client';
import { useMutation } from '@tanstack/react-query';
import { CirclePause, CirclePlay } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useRefreshWebhooks } from './use-refresh-webhooks.ts';

export function WebhookState({ enabled }: { enabled: boolean }) {
  const Icon = enabled ? CirclePlay : CirclePause;
  return (
    <Badge tone={enabled ? 'ok' : 'neutral'} icon={<Icon aria-hidden className="size-3" />}>
      {enabled ? 'On' : 'Off'}
    </Badge>
  );
}

/** Returns a function that turns a webhook on or off, and confirms it with a toast. */
export function useSwitchWebhook() {
  const trpc = useTRPC();
  const refresh = useRefreshWebhooks();
  return useMutation(
    trpc.webhooks_patch.mutationOptions({
      onSuccess: ({ name, enabled }) => {
        toast.success(`${name} is turned ${enabled ? 'on' : 'off'}`);
        return refresh();
      },
      onError: toastError,
    }),
  );
}
