import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { loadMe, setupRequired, signUpOpen } from '@/app/(console)/load-me.ts';
import { SignUpForm } from '@/components/auth/sign-up-form.tsx';

export const metadata: Metadata = { title: 'Create an account' };

export default async function SignUpPage() {
  if (await loadMe()) redirect('/');
  if (await setupRequired()) redirect('/setup');
  if (!(await signUpOpen())) redirect('/sign-in');
  return <SignUpForm />;
}
