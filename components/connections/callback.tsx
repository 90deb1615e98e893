'use client';
import { useMutation } from '@tanstack/react-query';
import { Plug } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { readFields } from '../ui/read-fields.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState, FormError, NeedsContributor } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import { useRefreshConnections } from './use-refresh-connections.ts';

type Callback = { code: string; state: string; iss?: string };

/**
 * The page to which a provider redirects the browser. Opening it changes nothing: the user who started the connection
 * must post the code from here, in the same workspace. The code is removed from the address at once.
 */
export function ConnectionCallback() {
  const { canWrite } = usePermissions();
  const params = useSearchParams();
  // Read once, because the address is cleaned below.
  const [returned] = useState(() => Object.fromEntries(params));
  useEffect(() => window.history.replaceState(null, '', window.location.pathname), []);
  const { code, state, iss, error } = returned;
  const callback = code && state ? { code, state, ...(iss ? { iss } : {}) } : null;
  return (
    <Page width="narrow">
      <PageHeader title="Connecting" parent={{ href: '/connections', label: 'Connections' }} />
      {!canWrite ? (
        <NeedsContributor icon={Plug} what="Connections" />
      ) : callback === null ? (
        <Failed message={refusal(error)} />
      ) : callback.state.startsWith('messaging.') ? (
        <FinishMessaging callback={callback} returned={returned} />
      ) : (
        <FinishSuite callback={callback} />
      )}
    </Page>
  );
}

function refusal(error: string | undefined): string {
  if (error === 'access_denied') return 'Access was denied. Nothing was connected.';
  // Shows the provider's code and not its message, because anyone can put text into a link.
  const code = /^[a-z_]{1,64}$/.test(error ?? '') ? ` (${error})` : '';
  return `The provider did not return an account to connect${code}. Start again.`;
}

function Failed({ message }: { message: string }) {
  return (
    <Card>
      <ErrorState title="Not connected" error={new Error(message)} />
      <div className="flex justify-center pb-4">
        <ButtonLink href="/connections">Back to connections</ButtonLink>
      </div>
    </Card>
  );
}

/** Returns a function that opens the list and shows the name of the new connection. */
function useConnected() {
  const router = useRouter();
  const refresh = useRefreshConnections();
  return (made: { name: string }) => {
    toast.success(`${made.name} is connected`);
    router.replace('/connections');
    return refresh();
  };
}

function FinishSuite({ callback }: { callback: Callback }) {
  const trpc = useTRPC();
  const onSuccess = useConnected();
  const { mutate, error } = useMutation(trpc.connections_suite_complete.mutationOptions({ onSuccess }));
  // A state is valid once, but React may run an effect twice.
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    mutate(callback);
  }, [mutate, callback]);
  if (error) return <Failed message={error.message} />;
  return (
    <Card>
      <p role="status" className="text-sm text-muted">
        Finishing with the provider…
      </p>
      <Skeleton className="mt-3 h-16 w-full" />
    </Card>
  );
}

/** Completes a messaging connection. The account comes from the address, or the user enters it. */
function FinishMessaging({ callback, returned }: { callback: Callback; returned: Record<string, string> }) {
  const trpc = useTRPC();
  const onSuccess = useConnected();
  const complete = useMutation(trpc.connections_messaging_complete.mutationOptions({ onSuccess }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const read = readFields(event.currentTarget);
    const account = { business_account_id: read('business_account_id'), phone_number_id: read('phone_number_id') };
    complete.mutate({ ...callback, ...account });
  };
  return (
    <Card title="Which account is it?" description="Both are shown at the end of the signup.">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={complete.error} />
        <Field label="Business account ID">
          <Input name="business_account_id" required maxLength={64} defaultValue={returned.business_account_id} />
        </Field>
        <Field label="Phone number ID">
          <Input name="phone_number_id" required maxLength={64} defaultValue={returned.phone_number_id} />
        </Field>
        <div className="flex justify-end gap-2">
          <ButtonLink href="/connections">Cancel</ButtonLink>
          <Button variant="primary" type="submit" pending={complete.isPending}>
            Connect
          </Button>
        </div>
      </form>
    </Card>
  );
}
