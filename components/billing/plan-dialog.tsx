'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatMoney } from '../ui/money.ts';
import { toast } from '../ui/toaster.tsx';
import { CheckoutDialog } from './checkout-dialog.tsx';
import { DiscountField } from './discount-field.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import type { BillingStatus, Checkout, PaymentConfig, Plan } from './wire.ts';
import { counted, intervalText, planPriceText } from './words.ts';

export type PlanDialogProps = {
  plan: Plan;
  status: BillingStatus;
  config: PaymentConfig;
  onClose: () => void;
};

/** Starts the trial of a plan. Shows its credits, its end, and what follows. */
export function TrialDialog({ plan, config, onClose }: PlanDialogProps) {
  const trpc = useTRPC();
  const order = useOrder(plan, config, onClose);
  const start = useMutation(trpc.billing_trial_start.mutationOptions({ onSuccess: order.settle }));
  if (order.checkout) return <OrderCheckout plan={plan} config={config} order={order} checkout={order.checkout} />;
  return (
    <FormDialog
      onClose={onClose}
      size="sm"
      title={`Start the trial of ${plan.product_name}`}
      action="Start trial"
      pending={start.isPending}
      error={start.error}
      onSubmit={() => start.mutate({ plan_code: plan.plan_code })}
    >
      <ul className="flex list-disc flex-col gap-1 pl-4 text-sm">
        <li>
          {counted(plan.trial_days, 'day')} with {creditsInWords(plan.trial_credits_granted)}, at the prices of{' '}
          {plan.product_name}.
        </li>
        <li>
          {plan.trial_requires_card
            ? `A card is required. After the trial it is charged ${planPriceText(plan)}, unless you cancel before then.`
            : 'No card is required, and nothing is paid unless you subscribe.'}
        </li>
        <li>The remaining credits expire with the trial. Each workspace has one trial.</li>
      </ul>
    </FormDialog>
  );
}

/** Buys a plan. Shows its price, reduced by a discount code. */
export function SubscribeDialog({ plan, config, onClose }: PlanDialogProps) {
  const trpc = useTRPC();
  const order = useOrder(plan, config, onClose);
  const [code, setCode] = useState('');
  const subscribe = useMutation(trpc.billing_subscribe.mutationOptions({ onSuccess: order.settle }));
  if (order.checkout) return <OrderCheckout plan={plan} config={config} order={order} checkout={order.checkout} />;
  return (
    <FormDialog
      onClose={onClose}
      title={`Subscribe to ${plan.product_name}`}
      description={`${creditsInWords(plan.included_credits_granted)} each ${intervalText(plan)}. The remaining credits expire with the ${intervalText(plan)}.`}
      action="Subscribe"
      pending={subscribe.isPending}
      error={subscribe.error}
      onSubmit={() =>
        subscribe.mutate({ plan_code: plan.plan_code, ...(code.trim() ? { discount_code: code.trim() } : {}) })
      }
    >
      <dl className="flex flex-col rounded-md border text-sm">
        <div className="flex items-baseline justify-between gap-3 px-3 py-2">
          <dt>
            {plan.product_name}, each {intervalText(plan)}
          </dt>
          <dd className="font-semibold tabular-nums">{formatMoney(plan.amount, plan.currency)}</dd>
        </div>
      </dl>
      <DiscountField plan={plan} code={code} onCode={setCode} onValid={() => undefined} />
      <p className="text-xs text-muted">
        {config.publishable_key
          ? 'Stripe asks for the card next. The subscription renews automatically until you cancel it.'
          : 'No card is required: the operator of this service sends the invoice, and you get the credits when they confirm its payment. The subscription renews automatically until you cancel it.'}
      </p>
    </FormDialog>
  );
}

/**
 * Returns the handler that follows an order: it opens the provider's form if there is something to confirm, and otherwise closes the
 * dialog.
 */
export function useOrder(plan: Plan, config: PaymentConfig, onClose: () => void) {
  const refresh = useRefreshBilling();
  const [checkout, setCheckout] = useState<Checkout | null>(null);
  const done = (status?: BillingStatus) => {
    onClose();
    toast.success(status ? sentence(status, plan) : `${plan.product_name} is ordered`);
    return refresh();
  };
  return {
    checkout,
    settle: (answer: { status: BillingStatus; checkout: Checkout | null }) => {
      if (answer.checkout === null || config.publishable_key === null) return done(answer.status);
      setCheckout(answer.checkout);
      return refresh();
    },
    done: () => void done(),
    abandon: () => {
      onClose();
      void refresh();
    },
  };
}

function sentence(status: BillingStatus, plan: Plan): string {
  if (status.plan_code !== plan.plan_code) return `${plan.product_name} begins with the next period`;
  return status.status === 'trialing'
    ? `The trial of ${plan.product_name} has started`
    : `${plan.product_name} is yours`;
}

export function OrderCheckout({
  plan,
  checkout,
  config,
  order,
}: {
  plan: Plan;
  checkout: Checkout;
  config: PaymentConfig;
  order: Pick<ReturnType<typeof useOrder>, 'done' | 'abandon'>;
}) {
  return (
    <CheckoutDialog
      checkout={checkout}
      publishableKey={config.publishable_key ?? ''}
      title={checkout.kind === 'payment' ? `Pay for ${plan.product_name}` : `A card for ${plan.product_name}`}
      description={
        checkout.kind === 'payment'
          ? `${planPriceText(plan)}, renewed until you cancel.`
          : `Nothing is charged now. After the trial: ${planPriceText(plan)}, unless you cancel before then.`
      }
      action={checkout.kind === 'payment' ? 'Pay' : 'Save card'}
      onDone={order.done}
      onClose={order.abandon}
    />
  );
}
