'use client';
import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { readFields } from '../ui/read-fields.ts';
import { FormError } from '../ui/states.tsx';
import { findWorkspaceProblems, WorkspaceFields, type WorkspaceProblems } from '../workspaces/workspace-fields.tsx';
import { postPublic } from './public-api.ts';
import { signInWithPassword } from './sign-in.ts';
import { useHydrated } from './use-hydrated.ts';

/** Creates an account and its first workspace, and signs in. */
export function SignUpForm() {
  const hydrated = useHydrated();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [problems, setProblems] = useState<WorkspaceProblems>({});
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = readFields(event.currentTarget);
    const password = String(new FormData(event.currentTarget).get('password') ?? '');
    const workspace = { name: text('workspace_name'), slug: text('slug') };
    const found = findWorkspaceProblems(workspace);
    setProblems(found);
    setError(null);
    if (Object.keys(found).length > 0) return;
    setPending(true);
    try {
      await postPublic('/v1/sign-up', {
        name: text('name'),
        email: text('email'),
        password,
        workspace_name: workspace.name,
        slug: workspace.slug,
      });
      const failed = await signInWithPassword(text('email'), password);
      window.location.assign(failed === null ? '/' : '/sign-in');
    } catch (thrown) {
      if (readError(thrown).code === 'workspace_slug_taken')
        setProblems({ slug: 'A workspace with this slug already exists. Choose another one.' });
      else setError(thrown);
      setPending(false);
    }
  };
  return (
    <form method="post" onSubmit={event => void submit(event)} className="flex flex-col gap-4">
      <div>
        <h1 className="text-lg font-semibold">Create an account</h1>
        <p className="text-sm text-muted">You get a workspace of your own and can invite others.</p>
      </div>
      <FormError error={error} />
      <Field label="Your name">
        <Input name="name" required maxLength={120} autoComplete="name" />
      </Field>
      <Field label="Email">
        <Input name="email" type="email" required autoComplete="username" />
      </Field>
      <Field label="Password" hint="At least 10 characters.">
        <Input name="password" type="password" required minLength={10} maxLength={200} autoComplete="new-password" />
      </Field>
      <WorkspaceFields nameField="workspace_name" label="Workspace name" problems={problems} />
      <Button type="submit" variant="primary" disabled={!hydrated} pending={pending}>
        Create account
      </Button>
      <p className="text-center text-sm text-muted">
        Have an account?{' '}
        <Link href="/sign-in" className="text-accent-text underline underline-offset-2">
          Sign in
        </Link>
      </p>
    </form>
  );
}
