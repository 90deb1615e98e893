import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { setupRequired } from '@/app/(console)/load-me.ts';
import { SetupForm } from '@/components/auth/setup-form.tsx';

export const metadata: Metadata = { title: 'Set up' };

export default async function SetupPage() {
  if (!(await setupRequired())) redirect('/');
  return <SetupForm />;
}
