'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { leave } from '../auth/auth-requests.ts';
import { signInWithPassword } from '../auth/sign-in.ts';
import { useHydrated } from '../auth/use-hydrated.ts';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { leaveSession, renewSession } from '../trpc/session-gate.ts';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { readFields } from '../ui/read-fields.ts';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';

/** The user's own name and password. */
export function Profile({ passwordSignIn }: { passwordSignIn: boolean }) {
  return (
    <Page width="narrow">
      <PageHeader title="Profile" />
      <div className="flex flex-col gap-6">
        <NameCard />
        {passwordSignIn ? <PasswordCard /> : null}
        <SessionsCard />
      </div>
    </Page>
  );
}

function NameCard() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { me } = useSession();
  const update = useMutation(
    trpc.me_update.mutationOptions({
      onSuccess: () => {
        toast.success('Name saved');
        return Promise.all([
          queries.invalidateQueries(trpc.me_get.queryFilter()),
          queries.invalidateQueries(trpc.members_list.queryFilter()),
        ]);
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    update.mutate({ name: readFields(event.currentTarget)('name') });
  };
  return (
    <Card title="You">
      <form onSubmit={submit} className="flex flex-col items-start gap-4">
        <FormError error={update.error} />
        <Field label="Email" hint="It identifies you and cannot be changed." className="w-full sm:w-80">
          <Input value={me.user.email} readOnly />
        </Field>
        {me.user.confirmed ? null : <Unconfirmed />}
        <Field label="Name" className="w-full sm:w-80">
          <Input name="name" required maxLength={120} defaultValue={me.user.name} autoComplete="name" />
        </Field>
        <Button type="submit" variant="primary" pending={update.isPending}>
          Save
        </Button>
      </form>
    </Card>
  );
}

/**
 * Tells the user that the email address is not confirmed, and offers to send the link again if the deployment sends
 * mail.
 */
function Unconfirmed() {
  const trpc = useTRPC();
  const request = useMutation(
    trpc.me_request_confirmation.mutationOptions({
      onSuccess: () => toast.success('Email sent', { description: 'Open the link in it within three days.' }),
    }),
  );
  const { data } = useQuery(trpc.me_notifications_get.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY }));
  // Null, or 404: this deployment sends no mail.
  const withoutMail = data?.email_address === null || request.error?.data?.httpStatus === 404;
  return (
    <div className="flex flex-col items-start gap-2 text-sm text-muted">
      <p>
        This address is not confirmed.{' '}
        {withoutMail ? 'This service does not send email. Ask its operator for a confirmation link.' : null}
      </p>
      {withoutMail || data === undefined ? null : (
        <>
          <FormError error={request.error} />
          <Button type="button" size="sm" pending={request.isPending} onClick={() => request.mutate()}>
            Email me a link
          </Button>
        </>
      )}
    </div>
  );
}

/** Signs out every session of the user. Tokens stay valid. */
function SessionsCard() {
  const trpc = useTRPC();
  const end = useMutation(
    trpc.me_end_sessions.mutationOptions({
      onMutate: () => leaveSession('keeps'),
      onSuccess: () => leave(),
      onError: () => leaveSession('no'),
    }),
  );
  return (
    <Card title="Sessions" description="API keys remain valid.">
      <div className="flex flex-col items-start gap-4">
        <FormError error={end.error} />
        <p className="text-sm text-muted">Ends every session of your account, on this and all other devices.</p>
        <Button type="button" pending={end.isPending} onClick={() => end.mutate()}>
          Sign out everywhere
        </Button>
      </div>
    </Card>
  );
}

function PasswordCard() {
  const trpc = useTRPC();
  const { me } = useSession();
  const form = useRef<HTMLFormElement>(null);
  const hydrated = useHydrated();
  const change = useMutation(
    trpc.me_change_password.mutationOptions({
      onSuccess: async (_, { new_password }) => {
        form.current?.reset();
        // The change ends every session of the user. Only this one is signed in again.
        const failed = await signInWithPassword(me.user.email, new_password);
        if (failed !== null) return window.location.assign('/sign-in?next=%2Fsettings%2Fprofile');
        toast.success('Password changed', { description: 'Every other session is signed out.' });
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const changed = change.mutateAsync({
      current_password: String(data.get('current') ?? ''),
      new_password: String(data.get('new') ?? ''),
    });
    renewSession(changed);
  };
  return (
    <Card title="Password" description="Changing your password signs you out everywhere else.">
      {/* Uses POST and is disabled until hydrated, so that an early click cannot put the passwords into the URL. */}
      <form ref={form} method="post" onSubmit={submit} className="flex flex-col items-start gap-4">
        <FormError error={change.error} />
        <Field label="Current password" className="w-full sm:w-80">
          <Input name="current" type="password" required autoComplete="current-password" />
        </Field>
        <Field label="New password" hint="At least 10 characters." className="w-full sm:w-80">
          <Input name="new" type="password" required minLength={10} maxLength={200} autoComplete="new-password" />
        </Field>
        <Button type="submit" variant="primary" disabled={!hydrated} pending={change.isPending}>
          Change password
        </Button>
      </form>
    </Card>
  );
}
