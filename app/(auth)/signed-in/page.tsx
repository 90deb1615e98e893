import type { Metadata } from 'next';
import { returnPath } from '@/components/auth/return-path.ts';
import { SignedIn } from '@/components/auth/signed-in.tsx';

export const metadata: Metadata = { title: 'Signed in' };

type Props = { searchParams: Promise<Record<string, string | string[]>> };

/** Single sign-on ends here, since only a page can tell the other tabs of the browser about the new session. */
export default async function SignedInPage({ searchParams }: Props) {
  const { next } = await searchParams;
  return <SignedIn next={returnPath(typeof next === 'string' ? next : undefined)} />;
}
