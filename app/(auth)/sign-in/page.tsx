import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { loadMeIfAny, setupRequired, signUpOpen } from '@/app/(console)/load-me.ts';
import { returnPath } from '@/components/auth/return-path.ts';
import { SignInForm } from '@/components/auth/sign-in-form.tsx';

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
  return <SignInForm next={path} error={code} signUp={await signUpOpen()} />;
}
