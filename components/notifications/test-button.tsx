'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';

/** Sends the user a test notification, and shows the outcome beside the button. */
export function TestButton({ channel }: { channel: 'email' | 'webhook' }) {
  const trpc = useTRPC();
  const test = useMutation(trpc.me_notifications_test.mutationOptions());
  const reason = test.error ? readError(test.error).message : test.data?.reason;
  const outcome = test.data?.delivered ? 'Delivered.' : reason;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Button size="sm" pending={test.isPending} onClick={() => test.mutate({ channel })}>
        Send a test
      </Button>
      <span role="status" className={test.data?.delivered ? 'text-sm text-ok' : 'text-sm text-bad'}>
        {test.isPending ? null : outcome}
      </span>
    </span>
  );
}
