import { KeyRound } from 'lucide-react';
import { buttonClass } from '../ui/button.tsx';
import { returnPath } from './return-path.ts';

/** Returns the address at which single sign-on starts, to come back to `next`. */
export const signOnPath = (next: string | undefined): string =>
  `/api/auth/oidc/start?next=${encodeURIComponent(returnPath(next))}`;

/** Starts single sign-on. An ordinary link: a form that ends at another site would be against the page's policy (`form-action`). */
export function SignOnLink({ next, primary }: { next: string | undefined; primary: boolean }) {
  return (
    <a href={signOnPath(next)} className={buttonClass(primary ? 'primary' : 'secondary', 'md', 'w-full')}>
      <KeyRound aria-hidden className="size-4" />
      Sign in with single sign-on
    </a>
  );
}

/** The sign-in page of a deployment without passwords. */
export function SignOnOnly({ next, problem }: { next: string | undefined; problem: string | undefined }) {
  return (
    <div className="flex flex-col gap-4">
      <h1 className="text-lg font-semibold">Sign in</h1>
      {problem === undefined ? null : <SignInProblem>{problem}</SignInProblem>}
      <SignOnLink next={next} primary />
    </div>
  );
}

/** The page of an invitation on a deployment without passwords: single sign-on accepts it. */
export function SignOnInstead() {
  return (
    <div className="flex flex-col gap-4">
      <h1 className="text-lg font-semibold">Accept your invitation</h1>
      <p className="text-sm text-muted">Sign in with the email address that was invited, and you join the workspace.</p>
      <SignOnLink next={undefined} primary />
    </div>
  );
}

/** The line that says why a sign-in was refused. */
export function SignInProblem({ children }: { children: string }) {
  return (
    <p role="alert" className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm text-bad">
      {children}
    </p>
  );
}
