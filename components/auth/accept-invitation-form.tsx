'use client';
import { type FormEvent, useState } from 'react';
import { z } from 'zod';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { BrokenLink } from './broken-link.tsx';
import { postPublic } from './public-api.ts';
import { signInWithPassword } from './sign-in.ts';
import { useHydrated } from './use-hydrated.ts';
import { useLinkToken } from './use-link-token.ts';

const Accepted = z.looseObject({ email: z.string() });

/** Joins a workspace. The token is in the URL's fragment, which no server or Referer header gets to see. */
export function AcceptInvitationForm() {
  const hydrated = useHydrated();
  const token = useLinkToken();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const password = String(form.get('password') ?? '');
    setPending(true);
    setError(null);
    try {
      const name = String(form.get('name') ?? '').trim();
      const accepted = Accepted.parse(await postPublic('/v1/invitations/accept', { token, name, password }));
      const failed = await signInWithPassword(accepted.email, password);
      window.location.assign(failed === null ? '/' : '/sign-in');
    } catch (thrown) {
      setError(thrown);
      setPending(false);
    }
  };
  if (token === '') return <BrokenLink what="invitation link" />;
  return (
    <form method="post" onSubmit={event => void submit(event)} className="flex flex-col gap-4">
      <div>
        <h1 className="text-lg font-semibold">Join the workspace</h1>
        <p className="text-sm text-muted">
          New here? Choose a name and a password. If you have an account already, give its password.
        </p>
      </div>
      <FormError error={error} />
      <Field label="Your name">
        <Input name="name" required maxLength={120} autoComplete="name" />
      </Field>
      <Field label="Password" hint="At least 10 characters.">
        <Input name="password" type="password" required minLength={10} maxLength={200} autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" disabled={!hydrated || !token} pending={pending}>
        Accept invitation
      </Button>
    </form>
  );
}
