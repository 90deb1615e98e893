import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import type { ReactNode } from 'react';
import { ConsoleFrame } from '../console-frame.tsx';
import { PATH_HEADER } from '../page-headers.ts';
import { loadMeIfAny, setupRequired } from './load-me.ts';

function TooManyRequestsPage() {
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-1 p-6 text-center">
      <h1 className="text-lg font-semibold">Too many requests</h1>
      <p className="text-sm text-muted">Wait a minute, then load this page again.</p>
    </main>
  );
}

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const { me, limited } = await loadMeIfAny();
  if (limited) return <TooManyRequestsPage />;
  if (!me) {
    if (await setupRequired()) redirect('/setup');
    const path = (await headers()).get(PATH_HEADER) ?? '/';
    redirect(path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(path)}`);
  }
  return <ConsoleFrame me={me}>{children}</ConsoleFrame>;
}
