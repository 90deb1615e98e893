import { cookies, headers } from 'next/headers';
import type { ReactNode } from 'react';
import { LazyCreditNotice } from '@/components/billing/lazy-credit-notice.tsx';
import { NOTICE_COOKIE } from '@/components/billing/notice-cookie.ts';
import { ConsoleSession, type Me } from '@/components/session/session.tsx';
import { Shell } from '@/components/shell/shell.tsx';
import { readSidebarChoices } from '@/components/shell/sidebar-choice.ts';
import { SidebarProvider } from '@/components/shell/use-sidebar.tsx';
import { isApple } from '@/components/ui/shortcut.ts';
import { loadBillingStatus } from './(console)/load-me.ts';
import { container } from './container.ts';

/** The frame of the console around a page, for a signed-in user. */
export async function ConsoleFrame({ me, children }: { me: Me; children: ReactNode }) {
  const { passwordSignIn, signOn } = container().identity;
  const billing = await loadBillingStatus(me);
  const kept = await cookies();
  const dismissed = kept.get(NOTICE_COOKIE)?.value;
  return (
    <ConsoleSession
      me={me}
      renderedAt={container().services.clock.now()}
      ways={{ password: passwordSignIn, signOn: signOn !== null }}
      appleKeys={isApple((await headers()).get('user-agent') ?? '')}
    >
      <SidebarProvider chosen={readSidebarChoices(name => kept.get(name)?.value)}>
        <Shell notice={me.billing === 'on' ? <LazyCreditNotice initial={billing} dismissed={dismissed} /> : null}>
          {children}
        </Shell>
      </SidebarProvider>
    </ConsoleSession>
  );
}
