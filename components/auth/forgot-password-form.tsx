'use client';
import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { readFields } from '../ui/read-fields.ts';
import { FormError } from '../ui/states.tsx';
import { postPublic } from './public-api.ts';
import { useHydrated } from './use-hydrated.ts';

/** Requests an email with a link that resets the password. The answer is the same whether or not the address has an account. */
export function ForgotPasswordForm({ mail }: { mail: boolean }) {
  const hydrated = useHydrated();
  const [pending, setPending] = useState(false);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const email = readFields(event.currentTarget)('email');
    setPending(true);
    setError(null);
    try {
      await postPublic('/v1/password-resets', { email });
      setSentTo(email);
    } catch (thrown) {
      setError(thrown);
    }
    setPending(false);
  };
  const back = (
    <Link href="/sign-in" className="text-sm text-accent-text underline underline-offset-2">
      Back to sign-in
    </Link>
  );
  if (!mail)
    return (
      <div className="flex flex-col gap-4">
        <h1 className="text-lg font-semibold">Forgot your password?</h1>
        <p className="text-sm text-muted">
          This service does not send email. Ask its operator for a link to set a new password.
        </p>
        {back}
      </div>
    );
  if (sentTo !== null)
    return (
      <div className="flex flex-col gap-4">
        <h1 className="text-lg font-semibold">Check your email</h1>
        <p className="text-sm text-muted" role="status">
          If {sentTo} has an account, a link to set a new password is on its way. It works for one hour.
        </p>
        {back}
      </div>
    );
  return (
    <form method="post" onSubmit={event => void submit(event)} className="flex flex-col gap-4">
      <div>
        <h1 className="text-lg font-semibold">Forgot your password?</h1>
        <p className="text-sm text-muted">We will email you a link to set a new one.</p>
      </div>
      <FormError error={error} />
      <Field label="Email">
        <Input name="email" type="email" required autoComplete="username" />
      </Field>
      <Button type="submit" variant="primary" disabled={!hydrated} pending={pending}>
        Send link
      </Button>
      {back}
    </form>
  );
}
