import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import type { ReactNode } from 'react';
import { ConsoleSession } from '@/components/shell/session.tsx';
import { Shell } from '@/components/shell/shell.tsx';
import { loadMe, setupRequired } from './load-me.ts';

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const me = await loadMe();
  if (!me) {
    if (await setupRequired()) redirect('/setup');
    const path = (await headers()).get('x-console-path') ?? '/';
    redirect(path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(path)}`);
  }
  return (
    <ConsoleSession me={me}>
      <Shell>{children}</Shell>
    </ConsoleSession>
  );
}
