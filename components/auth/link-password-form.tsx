'use client';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { BrokenLink } from './broken-link.tsx';
import { postForEmail } from './public-api.ts';
import { useHydrated } from './use-hydrated.ts';
import { useLinkToken } from './use-link-token.ts';
import { useSignInSubmit } from './use-sign-in-submit.ts';

type Props = {
  title: string;
  description: ReactNode;
  path: '/v1/password-resets/complete' | '/v1/confirmations';
  action: string;
  /** True if a new password is chosen; false if the account's password is entered. */
  isNew: boolean;
};

/** Uses a link together with a password, and signs in. Opening the page alone does not use the link, because mail scanners open links. */
export function LinkPasswordForm({ title, description, path, action, isNew }: Props) {
  const hydrated = useHydrated();
  const token = useLinkToken();
  const { pending, error, onSubmit } = useSignInSubmit((_, password) => postForEmail(path, { token, password }));
  if (token === '') return <BrokenLink what="link" />;
  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      <div>
        <h1 className="text-lg font-semibold">{title}</h1>
        <p className="text-sm text-muted">{description}</p>
      </div>
      <FormError error={error} />
      <Field label={isNew ? 'New password' : 'Password'} {...(isNew ? { hint: 'At least 10 characters.' } : {})}>
        <Input
          name="password"
          type="password"
          required
          maxLength={200}
          {...(isNew ? { minLength: 10 } : {})}
          autoComplete={isNew ? 'new-password' : 'current-password'}
        />
      </Field>
      <Button type="submit" variant="primary" disabled={!hydrated || !token} pending={pending}>
        {action}
      </Button>
    </form>
  );
}
