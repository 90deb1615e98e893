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
import { cancelLabel } from './subscription-card.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import { formatDate } from './words.ts';

/** Asks when a plan or its trial ends. Default: at the end of the paid period. */
export function CancelDialog({ status, onClose }: Pick<PlanDialogProps, 'status' | 'onClose'>) {
  const trpc = useTRPC();
  const refresh = useRefreshBilling();
  const [when, setWhen] = useState<'end' | 'now'>('end');
  const trial = status.status === 'trialing';
  const unpaid = status.status === 'incomplete';
  const end = formatDate(trial && status.trial.ends_at ? status.trial.ends_at : status.current_period_end);
  const cancel = useMutation(
    trpc.billing_cancel.mutationOptions({
      onSuccess: ({ status: after }) => {
        onClose();
        toast.success(
          unpaid
            ? `${status.product_name} continues`
            : after.cancel_at_period_end
              ? `${status.product_name} ends on ${end}`
              : `${status.product_name} has ended`,
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
      title={unpaid ? 'Discard the order of the new plan?' : `Cancel ${status.product_name}?`}
      description={
        unpaid
          ? `Nothing was paid. ${status.product_name} continues.`
          : 'Pay-as-you-go credits stay; workflows, runs and keys stay too.'
      }
      footer={
        <>
          <Button onClick={onClose}>{unpaid ? 'Back' : trial ? 'Keep trial' : 'Keep plan'}</Button>
          <Button
            variant="danger"
            pending={cancel.isPending}
            onClick={() => cancel.mutate({ at_period_end: when === 'end' && !unpaid })}
          >
            {cancelLabel(status)}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <FormError error={cancel.error} />
        {unpaid ? null : <When trial={trial} end={end} value={when} onChange={setWhen} />}
      </div>
    </Dialog>
  );
}

function When({
  trial,
  end,
  value,
  onChange,
}: {
  trial: boolean;
  end: string;
  value: 'end' | 'now';
  onChange: (when: 'end' | 'now') => void;
}) {
  return (
    <Choices<'end' | 'now'>
      legend="When"
      value={value}
      onChange={onChange}
      choices={[
        {
          value: 'end',
          label: `On ${end}`,
          hint: trial
            ? 'The trial continues until then, and nothing is charged.'
            : 'The plan continues until then, and you can change your mind.',
        },
        {
          value: 'now',
          label: 'Now',
          hint: trial
            ? 'The trial credits expire immediately, and you cannot start a second trial.'
            : 'There is no refund. You keep the remaining credits until the end of this period.',
        },
      ]}
    />
  );
}
