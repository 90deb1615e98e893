import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import type { ReactNode } from 'react';
import { CreditNotice } from '@/components/billing/credit-notice.tsx';
import { NOTICE_COOKIE } from '@/components/billing/notice-cookie.ts';
import { ConsoleSession } from '@/components/shell/session.tsx';
import { Shell } from '@/components/shell/shell.tsx';
import { readSidebarChoices } from '@/components/shell/sidebar-choice.ts';
import { SidebarProvider } from '@/components/shell/use-sidebar.tsx';
import { isApple } from '@/components/ui/shortcut.ts';
import { container } from '../container.ts';
import { PATH_HEADER } from '../page-headers.ts';
import { loadBillingStatus, loadMeIfAny, setupRequired } from './load-me.ts';

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
  const billing = await loadBillingStatus(me);
  const kept = await cookies();
  const dismissed = kept.get(NOTICE_COOKIE)?.value;
  return (
    <ConsoleSession
      me={me}
      renderedAt={container().services.clock.now()}
      appleKeys={isApple((await headers()).get('user-agent') ?? '')}
    >
      <SidebarProvider chosen={readSidebarChoices(name => kept.get(name)?.value)}>
        <Shell notice={me.billing === 'on' ? <CreditNotice initial={billing} dismissed={dismissed} /> : null}>
          {children}
        </Shell>
      </SidebarProvider>
    </ConsoleSession>
  );
}
