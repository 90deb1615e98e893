'use client';
import { useMutation } from '@tanstack/react-query';
import { CircleCheck, TicketCheck } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import { codeProblem } from './words.ts';

/** Applies a billing code, and describes the result in a sentence. */
export function CodeCard() {
  const trpc = useTRPC();
  const refresh = useRefreshBilling();
  const { isAdmin } = usePermissions();
  const [code, setCode] = useState('');
  const apply = useMutation(
    trpc.billing_code_apply.mutationOptions({
      onSuccess: () => {
        setCode('');
        return refresh();
      },
    }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() !== '') apply.mutate({ code: code.trim() });
  };
  return (
    <Card title="Billing code" description="Credits, more days of a trial, or a discount.">
      {isAdmin ? (
        <form onSubmit={submit} className="flex flex-col gap-1">
          <Field label="Code" error={apply.error ? codeProblem(readError(apply.error)) : null}>
            <CodeInput
              value={code}
              pending={apply.isPending}
              onChange={text => {
                setCode(text);
                if (text !== '') apply.reset();
              }}
            />
          </Field>
          <p aria-live="polite" className="flex items-center gap-1 text-sm text-ok">
            {apply.data ? (
              <>
                <CircleCheck aria-hidden className="size-3.5 shrink-0" />
                {apply.data.message}
              </>
            ) : null}
          </p>
        </form>
      ) : (
        <p className="text-sm text-muted">An admin of the workspace can apply a code.</p>
      )}
    </Card>
  );
}

function CodeInput({
  value,
  pending,
  onChange,
}: {
  value: string;
  pending: boolean;
  onChange: (text: string) => void;
}) {
  return (
    <span className="flex max-w-100 gap-2">
      <Input
        name="code"
        value={value}
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
        onChange={event => onChange(event.target.value)}
      />
      <Button
        type="submit"
        icon={<TicketCheck aria-hidden className="size-3.5" />}
        pending={pending}
        disabled={value.trim() === ''}
      >
        Apply
      </Button>
    </span>
  );
}
