'use client';
import { AlertDialog as Radix } from 'radix-ui';
import { type FormEvent, useEffect, useState, useSyncExternalStore } from 'react';
import { Button, buttonClass } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { useFocusReturn } from '../ui/use-focus-return.ts';
import { asking, checkSession, type PagePerson, signInPath, watchSession } from './session-recovery.ts';
import { signInWithPassword } from './sign-in.ts';
import { signOnPath } from './sign-on-link.tsx';

/** How people sign in to this deployment. */
export type SignInWays = { password: boolean; signOn: boolean };

/** Asks for the password once the session has ended. The page behind the dialog keeps its content and its unsaved edits. */
export function SessionDialog({ person, ways }: { person: PagePerson; ways: SignInWays }) {
  const { id, name, email } = person;
  useEffect(() => watchSession({ id, name, email }), [id, name, email]);
  const open = useSyncExternalStore(asking.subscribe, asking.isOpen, () => false);
  const onCloseAutoFocus = useFocusReturn(open);
  return (
    <Radix.Root open={open}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 bg-scrim" />
        <Radix.Content
          onCloseAutoFocus={onCloseAutoFocus}
          className="fixed top-1/2 left-1/2 z-50 w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 rounded-xl border bg-surface p-5 shadow-pop animate-in sm:max-w-100"
        >
          <Radix.Title className="text-lg font-semibold">Your session has ended</Radix.Title>
          <Radix.Description className="mt-1 text-sm text-muted">
            {ways.password ? 'Enter your password' : 'Sign in again'} to go on where you are. Nothing on this page is
            lost.
          </Radix.Description>
          {ways.password ? <PasswordForm email={email} /> : null}
          {ways.signOn ? <SignOnElsewhere /> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Signs in in a new tab, which tells this one when it is done. */
function SignOnElsewhere() {
  return (
    <a
      href={signOnPath('/')}
      target="_blank"
      rel="noreferrer"
      className={buttonClass('secondary', 'md', 'mt-4 w-full')}
    >
      Sign in with single sign-on in a new tab
    </a>
  );
}

function PasswordForm({ email }: { email: string }) {
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get('password'));
    setPending(true);
    setProblem(null);
    const failed = await signInWithPassword(email, password);
    if (failed === null) await checkSession();
    setProblem(failed);
    setPending(false);
  };
  return (
    <form method="post" onSubmit={event => void submit(event)} className="mt-4 flex flex-col gap-4">
      <Field label="Email">
        <Input name="email" type="email" autoComplete="username" value={email} readOnly />
      </Field>
      <Field label="Password" error={problem}>
        <Input name="password" type="password" autoComplete="current-password" required autoFocus />
      </Field>
      <div className="mt-1 flex flex-wrap items-center justify-between gap-2">
        <a href={signInPath()} className="text-sm text-accent-text underline underline-offset-2">
          Use another account
        </a>
        <Button type="submit" variant="primary" pending={pending}>
          Sign in
        </Button>
      </div>
    </form>
  );
}
