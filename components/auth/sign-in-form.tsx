'use client';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { returnPath } from './return-path.ts';
import { signInWithPassword } from './sign-in.ts';
import { useHydrated } from './use-hydrated.ts';

/** Signs in with email and password. The form posts and is disabled until hydrated: an early click cannot put the password into the URL. */
export function SignInForm({
  next,
  problem: initial,
  signUp,
  signOn,
}: {
  next: string | undefined;
  /** Why the last sign-in was refused. */
  problem: string | undefined;
  /** True if visitors may create an account. */
  signUp: boolean;
  /** The other way to sign in, if there is one. */
  signOn: ReactNode;
}) {
  const hydrated = useHydrated();
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(initial ?? null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setPending(true);
    setProblem(null);
    const failed = await signInWithPassword(String(form.get('email')), String(form.get('password')));
    // A full page load: every part of the console starts with the new session.
    if (failed === null) return window.location.assign(returnPath(next));
    setPending(false);
    setProblem(failed);
  };
  return (
    <form method="post" onSubmit={event => void submit(event)} className="flex flex-col gap-4">
      <h1 className="text-lg font-semibold">Sign in</h1>
      {problem ? (
        <p role="alert" className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm text-bad">
          {problem}
        </p>
      ) : null}
      <Field label="Email">
        <Input name="email" type="email" autoComplete="username" required autoFocus />
      </Field>
      <Field label="Password">
        <Input name="password" type="password" autoComplete="current-password" required />
      </Field>
      <Button type="submit" variant="primary" disabled={!hydrated} pending={pending}>
        Sign in
      </Button>
      {signOn ? (
        <>
          <p className="flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
            or
          </p>
          {signOn}
        </>
      ) : null}
      <p className="text-center text-sm">
        <Link href="/forgot-password" className="text-accent-text underline underline-offset-2">
          Forgot your password?
        </Link>
      </p>
      {signUp ? (
        <p className="text-center text-sm text-muted">
          New here?{' '}
          <Link href="/sign-up" className="text-accent-text underline underline-offset-2">
            Create an account
          </Link>
        </p>
      ) : null}
    </form>
  );
}
