'use client';
import { useMutation } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { formatMoney } from '../ui/money.ts';
import type { Plan } from './wire.ts';
import { codeProblem, discountText, intervalText } from './words.ts';

/**
 * The field for a discount code. It shows the price with the discount before the purchase. `onValid` receives the code,
 * or null once the text has changed.
 */
export function DiscountField({
  plan,
  code,
  onCode,
  onValid,
}: {
  plan: Plan;
  code: string;
  onCode: (code: string) => void;
  onValid: (code: string | null) => void;
}) {
  const trpc = useTRPC();
  const check = useMutation(
    trpc.billing_discount_validate.mutationOptions({
      onSuccess: (answer, { code: checkedCode }) => onValid(answer.valid ? checkedCode : null),
    }),
  );
  const validate = () => check.mutate({ code: code.trim(), plan_code: plan.plan_code });
  const answer = check.data;
  return (
    <div className="flex flex-col gap-1">
      <Field
        label="Discount code"
        optional
        error={
          check.error
            ? codeProblem(readError(check.error))
            : answer && !answer.valid
              ? `This code gives no discount on ${plan.product_name}. Check for typos, or whether it has expired.`
              : null
        }
      >
        <span className="flex gap-2">
          <DiscountInput
            value={code}
            onChange={text => {
              onCode(text);
              onValid(null);
              check.reset();
            }}
            onEnter={validate}
          />
          <Button pending={check.isPending} disabled={code.trim() === ''} onClick={validate}>
            Check
          </Button>
        </span>
      </Field>
      <p aria-live="polite" className="flex items-center gap-1 text-xs text-ok">
        {answer?.valid && answer.discount ? (
          <>
            <CircleCheck aria-hidden className="size-3.5 shrink-0" />
            {discountText(answer.discount)}: {formatMoney(answer.amount_after, answer.currency)} instead of{' '}
            {formatMoney(answer.amount, answer.currency)} each {intervalText(plan)}.
          </>
        ) : null}
      </p>
    </div>
  );
}

function DiscountInput({
  value,
  onChange,
  onEnter,
}: {
  value: string;
  onChange: (text: string) => void;
  onEnter: () => void;
}) {
  return (
    <Input
      name="discount_code"
      value={value}
      maxLength={64}
      autoComplete="off"
      spellCheck={false}
      className="font-mono"
      onChange={event => onChange(event.target.value)}
      onKeyDown={event => {
        // Enter checks the code; it must not buy the plan.
        if (event.key !== 'Enter' || value.trim() === '') return;
        event.preventDefault();
        onEnter();
      }}
    />
  );
}
