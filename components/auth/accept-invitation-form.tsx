'use client';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { BrokenLink } from './broken-link.tsx';
import { postForEmail } from './public-api.ts';
import { useHydrated } from './use-hydrated.ts';
import { useLinkToken } from './use-link-token.ts';
import { useSignInSubmit } from './use-sign-in-submit.ts';

/** Joins a workspace. The token is in the URL's fragment, which browsers send to no server and in no Referer header. */
export function AcceptInvitationForm() {
  const hydrated = useHydrated();
  const token = useLinkToken();
  const { pending, error, onSubmit } = useSignInSubmit((text, password) =>
    postForEmail('/v1/invitations/accept', { token, name: text('name'), password }),
  );
  if (token === '') return <BrokenLink what="invitation link" />;
  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      <div>
        <h1 className="text-lg font-semibold">Join the workspace</h1>
        <p className="text-sm text-muted">
          New here? Choose a name and a password. If you have an account already, enter its password.
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
