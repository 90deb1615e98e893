'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { CopyField } from '../ui/copy.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatMoney, formatPrice, moneyText, parseMoney } from '../ui/money.ts';
import { toast } from '../ui/toaster.tsx';
import { CheckoutDialog } from './checkout-dialog.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import type { Checkout, Payment, PaymentConfig } from './wire.ts';

type Intent = { payment: Payment; checkout: Checkout | null; instructions: string | null };

/** Buys pay-as-you-go credits: asks for the amount, then for the payment. */
export function TopUpDialog({ config, onClose }: { config: PaymentConfig; onClose: () => void }) {
  const [intent, setIntent] = useState<Intent | null>(null);
  const refresh = useRefreshBilling();
  if (!intent) return <AmountForm config={config} onIntent={setIntent} onClose={onClose} />;
  const { payment, checkout } = intent;
  const amount = formatMoney(payment.amount, payment.currency);
  const buys = creditsInWords(payment.credits_microcredits);
  const close = () => {
    onClose();
    void refresh();
  };
  if (checkout && config.publishable_key)
    return (
      <CheckoutDialog
        checkout={checkout}
        publishableKey={config.publishable_key}
        title={`Pay ${amount}`}
        description={`It buys ${buys}, which never expire.`}
        action={`Pay ${amount}`}
        onDone={() => {
          toast.success(`${amount} is paid`, {
            description: `You get ${buys} as soon as Stripe confirms the payment.`,
          });
          close();
        }}
        onClose={close}
      />
    );
  return <Instructions payment={payment} text={intent.instructions} onClose={close} />;
}

function AmountForm({
  config,
  onIntent,
  onClose,
}: {
  config: PaymentConfig;
  onIntent: (intent: Intent) => void;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const { currency, topup } = config;
  const [text, setText] = useState(() => moneyText(suggestions(config)[0] ?? topup.minimum_amount, currency));
  const [tried, setTried] = useState(false);
  const order = useMutation(trpc.billing_topup_intent.mutationOptions({ onSuccess: onIntent }));
  const amount = parseMoney(text, currency);
  const problem = amountProblem(amount, config);
  const buys = amount === null || problem ? null : creditsInWords(amount * topup.microcredits_per_minor_unit);
  return (
    <FormDialog
      onClose={onClose}
      noValidate
      title="Top up"
      description="Pay-as-you-go credits are spent last, after those of a trial and of the plan, and never expire."
      action={amount === null || problem ? 'Continue' : `Continue with ${formatMoney(amount, currency)}`}
      pending={order.isPending}
      error={order.error}
      onSubmit={() => {
        setTried(true);
        if (amount !== null && !problem) order.mutate({ amount });
      }}
    >
      <Field
        label={`Amount in ${currency.toUpperCase()}`}
        required
        hint={`From ${formatPrice(topup.minimum_amount, currency)} to ${formatPrice(topup.maximum_amount, currency)}.`}
        error={tried || text !== '' ? problem : null}
      >
        <Input
          name="amount"
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={event => setText(event.target.value)}
          className="max-w-40 tabular-nums"
        />
      </Field>
      <fieldset className="flex flex-wrap gap-2">
        <legend className="sr-only">Usual amounts</legend>
        {suggestions(config).map(each => (
          <Button
            key={each}
            size="sm"
            aria-pressed={each === amount}
            className="aria-pressed:border-accent aria-pressed:text-accent-text"
            onClick={() => setText(moneyText(each, currency))}
          >
            {formatPrice(each, currency)}
          </Button>
        ))}
      </fieldset>
      <p aria-live="polite" className="min-h-5 text-sm">
        {buys ? (
          <>
            Buys <strong className="font-semibold tabular-nums">{buys}</strong>.
          </>
        ) : null}
      </p>
    </FormDialog>
  );
}

/** Returns the smallest amount and round multiples of it, within the limit. */
function suggestions({ topup }: PaymentConfig): number[] {
  return [2, 5, 10, 20].map(times => topup.minimum_amount * times).filter(amount => amount <= topup.maximum_amount);
}

function amountProblem(amount: number | null, { currency, topup }: PaymentConfig): string | null {
  if (amount === null) return 'Enter an amount such as 20.00.';
  if (amount < topup.minimum_amount) return `The minimum is ${formatPrice(topup.minimum_amount, currency)}.`;
  if (amount > topup.maximum_amount) return `The maximum is ${formatPrice(topup.maximum_amount, currency)}.`;
  return null;
}

/** If nothing can be paid in the browser: instructions, and the reference that identifies the payment. */
function Instructions({ payment, text, onClose }: { payment: Payment; text: string | null; onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title={`Top-up of ${formatMoney(payment.amount, payment.currency)} is recorded`}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-sm whitespace-pre-line">
          {text ?? 'The operator of this service confirms the payment; you get the credits immediately afterwards.'}
        </p>
        <div>
          <p className="mb-1 text-sm font-medium">Reference</p>
          <CopyField label="Payment reference" value={payment.id} />
        </div>
        <p className="text-sm text-muted">
          It is pending under Payments until then, and adds {creditsInWords(payment.credits_microcredits)}.
        </p>
      </div>
    </Dialog>
  );
}
