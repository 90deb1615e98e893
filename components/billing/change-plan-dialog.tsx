'use client';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatMoney } from '../ui/money.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import { Choices } from './choices.tsx';
import { DiscountField } from './discount-field.tsx';
import { OrderCheckout, type PlanDialogProps, useOrder } from './plan-dialog.tsx';
import type { ChangePreview, Plan } from './wire.ts';
import { formatDate, intervalText } from './words.ts';

type When = 'now' | 'period_end';

/** Changes to another plan, after showing the cost and the date that the server computed. */
export function ChangePlanDialog({ plan, status, config, onClose }: PlanDialogProps) {
  const trpc = useTRPC();
  const order = useOrder(plan, config, onClose);
  const [code, setCode] = useState('');
  const [valid, setValid] = useState<string | null>(null);
  // Undefined: the server's default, which is now for an upgrade and the period's end for a downgrade.
  const [chosen, setWhen] = useState<When | undefined>();
  const quote = useQuote(plan, chosen, valid);
  const change = useMutation(trpc.billing_change_plan.mutationOptions({ onSuccess: order.settle }));
  if (order.checkout) return <OrderCheckout plan={plan} config={config} order={order} checkout={order.checkout} />;
  const preview = quote.data;
  const when = chosen ?? (preview ? effectiveWhen(preview, status.current_period_end) : undefined);
  return (
    <FormDialog
      onClose={onClose}
      title={`Change to ${plan.product_name}`}
      action={
        preview && preview.amount_due > 0
          ? `Change and pay ${formatMoney(preview.amount_due, preview.currency)}`
          : 'Change'
      }
      pending={change.isPending}
      disabled={!preview || quote.isFetching}
      error={change.error}
      onSubmit={() =>
        when &&
        change.mutate({
          plan_code: plan.plan_code,
          when,
          ...(code.trim() ? { discount_code: code.trim() } : {}),
        })
      }
    >
      <Choices<When>
        legend="When"
        value={when}
        onChange={setWhen}
        choices={[
          { value: 'now', label: 'Now', hint: 'The rest of the current period is credited.' },
          { value: 'period_end', label: `On ${formatDate(status.current_period_end)}`, hint: 'With the next period.' },
        ]}
      />
      {quote.error ? (
        <FormError error={quote.error} />
      ) : preview ? (
        <Quote preview={preview} plan={plan} />
      ) : (
        <QuoteSkeleton />
      )}
      <DiscountField plan={plan} code={code} onCode={setCode} onValid={setValid} />
    </FormDialog>
  );
}

/** Reads what the change would cost. The request changes nothing. */
function useQuote(plan: Plan, when: When | undefined, discount: string | null) {
  const client = useTRPCClient();
  return useQuery({
    queryKey: [['billing_change_preview'], plan.plan_code, when, discount],
    queryFn: async () => {
      const { preview } = await client.billing_change_plan.mutate({
        plan_code: plan.plan_code,
        preview: true,
        ...(when ? { when } : {}),
        ...(discount ? { discount_code: discount } : {}),
      });
      return preview;
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

/** Returns the timing that the server chose by default. */
function effectiveWhen(preview: ChangePreview, periodEnd: string): When {
  return preview.effective_at < periodEnd ? 'now' : 'period_end';
}

function Quote({ preview, plan }: { preview: ChangePreview; plan: Plan }) {
  return (
    <div className="flex flex-col gap-2" aria-live="polite">
      <dl className="flex flex-col rounded-md border text-sm">
        {preview.lines.map(line => (
          <div
            key={`${line.description}:${line.amount}`}
            className="flex items-baseline justify-between gap-3 border-b px-3 py-2"
          >
            <dt className="text-muted">{line.description}</dt>
            <dd className="whitespace-nowrap tabular-nums">{formatMoney(line.amount, preview.currency)}</dd>
          </div>
        ))}
        <div className="flex items-baseline justify-between gap-3 px-3 py-2 font-semibold">
          <dt>To pay now</dt>
          <dd className="whitespace-nowrap tabular-nums">{formatMoney(preview.amount_due, preview.currency)}</dd>
        </div>
      </dl>
      <p className="text-xs text-muted">
        {plan.product_name} begins on {formatDate(preview.effective_at)} with{' '}
        {creditsInWords(preview.included_credits_granted)}, and costs {formatMoney(plan.amount, plan.currency)} each{' '}
        {intervalText(plan)}.
      </p>
    </div>
  );
}

function QuoteSkeleton() {
  return (
    <div aria-busy className="flex flex-col gap-2">
      <Skeleton className="h-20 w-full" />
      <Skeleton className="h-4 w-2/3" />
    </div>
  );
}
