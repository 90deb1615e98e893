'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import { Choices } from './choices.tsx';
import type { PlanDialogProps } from './plan-dialog.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import { formatDate } from './words.ts';

/** Asks when a plan, or its trial, is to end: at the end of what is paid for unless said otherwise. */
export function CancelDialog({ status, onClose }: Pick<PlanDialogProps, 'status' | 'onClose'>) {
  const trpc = useTRPC();
  const refresh = useRefreshBilling();
  const [when, setWhen] = useState<'end' | 'now'>('end');
  const trial = status.status === 'trialing';
  const what = trial ? 'trial' : 'plan';
  const end = formatDate(trial && status.trial.ends_at ? status.trial.ends_at : status.current_period_end);
  const cancel = useMutation(
    trpc.billing_cancel.mutationOptions({
      onSuccess: ({ status: after }) => {
        onClose();
        toast.success(
          after.cancel_at_period_end ? `${status.product_name} ends on ${end}` : `${status.product_name} has ended`,
        );
        return refresh();
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      size="sm"
      title={`Cancel ${status.product_name}?`}
      description="Pay-as-you-go credits stay; workflows, runs and keys stay too."
      footer={
        <>
          <Button onClick={onClose}>Keep {what}</Button>
          <Button
            variant="danger"
            pending={cancel.isPending}
            onClick={() => cancel.mutate({ at_period_end: when === 'end' })}
          >
            Cancel {what}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <FormError error={cancel.error} />
        <Choices<'end' | 'now'>
          legend="When"
          value={when}
          onChange={setWhen}
          choices={[
            {
              value: 'end',
              label: `On ${end}`,
              hint: `Everything goes on until then, and you can change your mind.`,
            },
            {
              value: 'now',
              label: 'Now',
              hint: trial
                ? 'The credits of the trial expire at once, and there is no second trial.'
                : 'The credits of this period expire at once, and nothing is paid back.',
            },
          ]}
        />
      </div>
    </Dialog>
  );
}
