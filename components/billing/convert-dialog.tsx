'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatMoney } from '../ui/money.ts';
import { OrderCheckout, type PlanDialogProps, useOrder } from './plan-dialog.tsx';
import { discountText, formatDate, intervalText, planPriceText } from './words.ts';

/** Ends a trial early: the plan starts now, and is paid now. */
export function ConvertDialog({ plan, status, config, onClose }: PlanDialogProps) {
  const trpc = useTRPC();
  const order = useOrder(plan, config, onClose);
  const convert = useMutation(trpc.billing_convert_trial.mutationOptions({ onSuccess: order.settle }));
  if (order.checkout) return <OrderCheckout plan={plan} config={config} order={order} checkout={order.checkout} />;
  return (
    <FormDialog
      onClose={onClose}
      size="sm"
      title={`Start paying for ${plan.product_name}?`}
      action={status.discount ? 'Start paying' : `Pay ${formatMoney(plan.amount, plan.currency)}`}
      pending={convert.isPending}
      error={convert.error}
      onSubmit={() => convert.mutate({})}
    >
      <ul className="flex list-disc flex-col gap-1 pl-4 text-sm">
        <li>The trial ends now{status.trial.ends_at ? `, not on ${formatDate(status.trial.ends_at)}` : ''}.</li>
        <li>
          {planPriceText(plan)}
          {status.discount ? `, less your discount: ${discountText(status.discount)}` : ''}.
        </li>
        <li>
          {plan.product_name} begins with {creditsInWords(plan.included_credits_granted)} each {intervalText(plan)}.
        </li>
      </ul>
    </FormDialog>
  );
}
