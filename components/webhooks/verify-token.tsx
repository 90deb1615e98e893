'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { CopyField } from '../ui/copy.tsx';
import { FormError } from '../ui/states.tsx';
import type { Webhook } from './webhook-form.tsx';

/** Replaces the token with which the sender tests the address, and shows the new token once. */
export function VerifyToken({ webhook }: { webhook: Webhook }) {
  const trpc = useTRPC();
  const renew = useMutation(trpc.webhooks_patch.mutationOptions());
  const token = renew.data?.verify_token;
  return (
    <div className="flex w-full flex-col items-start gap-2">
      <p className="text-muted">
        The sender tests the address with the verify token, which was shown when the webhook was created.
      </p>
      <FormError error={renew.error} />
      {token === undefined ? (
        <Button disabled={renew.isPending} onClick={() => renew.mutate({ id: webhook.id, rotate_verify_token: true })}>
          Replace verify token
        </Button>
      ) : (
        <>
          <CopyField label="Verify token" value={token} />
          <p role="status" className="text-xs text-muted">
            Enter it with the address. It is not shown again, and the old one is refused.
          </p>
        </>
      )}
    </div>
  );
}
