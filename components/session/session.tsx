'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { HOUR_MS } from '@/server/platform/clock.ts';
import { ApiProvider, type Outputs, useTRPC } from '../trpc/provider.tsx';
import { type Scope, storeScope } from '../trpc/scope.ts';
import { AppleKeys } from '../ui/kbd.tsx';
import { RenderedAt } from '../ui/time.tsx';
import { whenIdle } from '../ui/when-idle.ts';

const loadDialog = () => import('../auth/session-dialog.tsx');
const SessionDialog = dynamic(() => loadDialog().then(module => module.SessionDialog), { ssr: false });

export type Me = Outputs['me_get'];
type Session = {
  me: Me;
  scope: Scope;
  /** Works in another project from here on; leads to `href`, because the present page may belong to the old one. */
  switchTo: (scope: Scope, href?: string) => void;
};
const SessionContext = createContext<Session | null>(null);

type ConsoleSessionProps = { me: Me; renderedAt: number; appleKeys: boolean; children: ReactNode };

/** The signed-in user, the scope, the time and the keyboard, given by the server with the page: no request before the first paint. */
export function ConsoleSession({ me, renderedAt, appleKeys, children }: ConsoleSessionProps) {
  const scope = { tenant: me.tenant.id, project: me.project.id };
  return (
    <ApiProvider key={`${scope.tenant}:${scope.project}`} scope={scope}>
      <RenderedAt value={renderedAt}>
        <AppleKeys value={appleKeys}>
          <LiveSession initial={me}>{children}</LiveSession>
        </AppleKeys>
      </RenderedAt>
    </ApiProvider>
  );
}

function LiveSession({ initial, children }: { initial: Me; children: ReactNode }) {
  const trpc = useTRPC();
  const router = useRouter();
  // Roles and projects change while the console is open.
  const { data: me } = useQuery(trpc.me_get.queryOptions(undefined, { initialData: initial, staleTime: 60_000 }));
  const tenant = me.tenant.id;
  const project = me.project.id;
  // The server may have chosen: a link with ?project=, or the user's first. The next page must agree with it.
  useEffect(() => storeScope({ tenant, project }), [tenant, project]);
  useSlidingSession();
  // Another person has signed in, in another tab: the page was rendered for the one before.
  const isOther = me.user.id !== initial.user.id;
  useEffect(() => {
    if (isOther) window.location.reload();
  }, [isOther]);
  const switchTo = useCallback(
    (next: Scope, href = '/workflows') => {
      storeScope(next);
      if (next.tenant === tenant && next.project === project) router.push(href);
      // The layout reads the cookie on the server; a full load gives every part the new scope at once.
      else window.location.assign(href);
    },
    [router, tenant, project],
  );
  const session = useMemo(() => ({ me, scope: { tenant, project }, switchTo }), [me, tenant, project, switchTo]);
  return (
    <SessionContext value={session}>
      {children}
      <SessionGuard person={me.user} />
    </SessionContext>
  );
}

/** Asks for the password where the session ends. Its code is there before that happens, and none of the first load. */
function SessionGuard({ person }: { person: Me['user'] }) {
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const load = () =>
      void loadDialog().then(
        () => setLoaded(true),
        () => {
          timer = setTimeout(load, 5_000);
        },
      );
    whenIdle(load);
    return () => clearTimeout(timer);
  }, []);
  return isLoaded ? <SessionDialog person={person} /> : null;
}

/** Reading the session renews its cookie (7 days, sliding): once with each load, then hourly while the console is open. */
function useSlidingSession(): void {
  useEffect(() => {
    const renew = () => void fetch('/api/auth/session').catch(() => undefined);
    renew();
    const timer = setInterval(renew, HOUR_MS);
    return () => clearInterval(timer);
  }, []);
}

/** Returns the user, the workspace and the project. Only beneath ConsoleSession. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession is used outside of ConsoleSession');
  return session;
}

/** Whether amounts of credits are shown: everywhere, unless the operator has switched billing off. */
export function useCreditsShown(): boolean {
  return useSession().me.billing !== 'off';
}

/** The permissions of the user's role, to hide what would be refused. The server checks them in any case. */
export function usePermissions(): { canWrite: boolean; isAdmin: boolean } {
  const { me } = useSession();
  return { canWrite: me.role !== 'project_viewer', isAdmin: me.role === 'tenant_admin' };
}
