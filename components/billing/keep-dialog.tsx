'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import type { PlanDialogProps } from './plan-dialog.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import { formatDate } from './words.ts';

/** Revokes the change that is scheduled for the end of the period: a cancellation, or another plan. */
export function KeepDialog({ status, onClose }: Pick<PlanDialogProps, 'status' | 'onClose'>) {
  const trpc = useTRPC();
  const refresh = useRefreshBilling();
  const keep = useMutation(
    trpc.billing_change_plan.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${status.product_name} continues`);
        return refresh();
      },
    }),
  );
  return (
    <FormDialog
      onClose={onClose}
      size="sm"
      title={`Keep ${status.product_name}?`}
      action={`Keep ${status.product_name}`}
      pending={keep.isPending}
      error={keep.error}
      onSubmit={() => keep.mutate({ plan_code: status.plan_code })}
    >
      <p className="text-sm">
        It continues after {formatDate(status.current_period_end)} as before. Nothing is charged now.
      </p>
    </FormDialog>
  );
}
