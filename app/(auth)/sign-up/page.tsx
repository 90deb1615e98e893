import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { loadMeIfAny, setupRequired, signUpOpen } from '@/app/(console)/load-me.ts';
import { SignUpForm } from '@/components/auth/sign-up-form.tsx';

export const metadata: Metadata = { title: 'Create an account' };

export default async function SignUpPage() {
  if ((await loadMeIfAny()).me) redirect('/');
  if (await setupRequired()) redirect('/setup');
  if (!(await signUpOpen())) redirect('/sign-in');
  return <SignUpForm />;
}
