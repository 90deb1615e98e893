'use client';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { postPublic } from './public-api.ts';
import { useHydrated } from './use-hydrated.ts';
import { useSignInSubmit } from './use-sign-in-submit.ts';

/** Creates the first owner with the token that was printed at start-up, and signs in. */
export function SetupForm() {
  const hydrated = useHydrated();
  const { pending, error, onSubmit } = useSignInSubmit(async (text, password) => {
    const tenant = text('tenant');
    await postPublic('/v1/setup', {
      token: text('token'),
      name: text('name'),
      email: text('email'),
      password,
      ...(tenant ? { tenant } : {}),
    });
    return text('email');
  });
  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      <div>
        <h1 className="text-lg font-semibold">Set up Baton</h1>
        <p className="text-sm text-muted">Create the first account. It owns the workspace and can invite others.</p>
      </div>
      <FormError error={error} />
      <Field label="Set-up token" hint="Printed in the server's output when it started.">
        <Input name="token" required autoComplete="off" spellCheck={false} className="font-mono" />
      </Field>
      <Field label="Your name">
        <Input name="name" required maxLength={120} autoComplete="name" />
      </Field>
      <Field label="Email">
        <Input name="email" type="email" required autoComplete="username" />
      </Field>
      <Field label="Password" hint="At least 10 characters.">
        <Input name="password" type="password" required minLength={10} maxLength={200} autoComplete="new-password" />
      </Field>
      <Field label="Workspace" optional hint="Lowercase letters, digits and hyphens. Used in API calls.">
        <Input name="tenant" pattern="[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?" autoComplete="off" spellCheck={false} />
      </Field>
      <Button type="submit" variant="primary" disabled={!hydrated} pending={pending}>
        Create account
      </Button>
    </form>
  );
}
