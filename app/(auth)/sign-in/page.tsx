import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { loadMeIfAny, setupRequired, signUpOpen } from '@/app/(console)/load-me.ts';
import { container } from '@/app/container.ts';
import { returnPath } from '@/components/auth/return-path.ts';
import { describeSignInError } from '@/components/auth/sign-in.ts';
import { SignInForm } from '@/components/auth/sign-in-form.tsx';
import { SignOnLink, SignOnOnly } from '@/components/auth/sign-on-link.tsx';
import { describeSignOnRefusal } from '@/components/auth/sign-on-refusals.ts';

export const metadata: Metadata = { title: 'Sign in' };

export default async function SignInPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[]>>;
}) {
  const { next, error } = await searchParams;
  const path = typeof next === 'string' ? next : undefined;
  const { me, limited } = await loadMeIfAny();
  if (me) redirect(returnPath(path));
  if (await setupRequired()) redirect('/setup');
  const code = limited ? 'rate_limited' : typeof error === 'string' ? error : undefined;
  const problem = code === undefined ? undefined : (describeSignOnRefusal(code) ?? describeSignInError(code));
  const { passwordSignIn, signOn } = container().identity;
  if (!passwordSignIn) return <SignOnOnly next={path} problem={problem} />;
  const link = signOn === null ? null : <SignOnLink next={path} primary={false} />;
  return <SignInForm next={path} problem={problem} signUp={await signUpOpen()} signOn={link} />;
}
