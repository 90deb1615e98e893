'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { HOUR_MS } from '@/server/platform/clock.ts';
import type { SignInWays } from '../auth/session-dialog.tsx';
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
  /** Switches to another project and opens `href`, because the current page may belong to the old project. */
  switchTo: (scope: Scope, href?: string) => void;
};
const SessionContext = createContext<Session | null>(null);

type ConsoleSessionProps = { me: Me; renderedAt: number; appleKeys: boolean; ways: SignInWays; children: ReactNode };

/**
 * Provides the signed-in user, the scope, the time and the keyboard type. The server sends them with the page, so that
 * no request precedes the first paint.
 */
export function ConsoleSession({ me, renderedAt, appleKeys, ways, children }: ConsoleSessionProps) {
  const scope = { tenant: me.tenant.id, project: me.project.id };
  return (
    <ApiProvider key={`${scope.tenant}:${scope.project}`} scope={scope}>
      <RenderedAt value={renderedAt}>
        <AppleKeys value={appleKeys}>
          <LiveSession initial={me} ways={ways}>
            {children}
          </LiveSession>
        </AppleKeys>
      </RenderedAt>
    </ApiProvider>
  );
}

function LiveSession({ initial, ways, children }: { initial: Me; ways: SignInWays; children: ReactNode }) {
  const trpc = useTRPC();
  const router = useRouter();
  // Roles and projects change while the console is open.
  const { data: me } = useQuery(trpc.me_get.queryOptions(undefined, { initialData: initial, staleTime: 60_000 }));
  const tenant = me.tenant.id;
  const project = me.project.id;
  // The server may have chosen the scope, from ?project= in the URL or as the user's first project. The next page must
  // use the same scope.
  useEffect(() => storeScope({ tenant, project }), [tenant, project]);
  useSlidingSession();
  // Another person has signed in in another tab, and the page was rendered for the previous person.
  const isOther = me.user.id !== initial.user.id;
  useEffect(() => {
    if (isOther) window.location.reload();
  }, [isOther]);
  const switchTo = useCallback(
    (next: Scope, href = '/workflows') => {
      storeScope(next);
      if (next.tenant === tenant && next.project === project) router.push(href);
      // The layout reads the cookie on the server; a full page load applies the new scope everywhere at once.
      else window.location.assign(href);
    },
    [router, tenant, project],
  );
  const session = useMemo(() => ({ me, scope: { tenant, project }, switchTo }), [me, tenant, project, switchTo]);
  return (
    <SessionContext value={session}>
      {children}
      <SessionGuard person={me.user} ways={ways} />
    </SessionContext>
  );
}

/** Asks for the password when the session ends. Its code is loaded before that, but not with the page. */
function SessionGuard({ person, ways }: { person: Me['user']; ways: SignInWays }) {
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
  return isLoaded ? <SessionDialog person={person} ways={ways} /> : null;
}

/** Renews the session's cookie (7 days, sliding) by reading the session: once per page load, then hourly while the console is open. */
function useSlidingSession(): void {
  useEffect(() => {
    const renew = () => void fetch('/api/auth/session').catch(() => undefined);
    renew();
    const timer = setInterval(renew, HOUR_MS);
    return () => clearInterval(timer);
  }, []);
}

/** Returns the user, the workspace and the project. Works only inside ConsoleSession. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession is used outside of ConsoleSession');
  return session;
}

/** Returns true if amounts of credits are shown, which is the case unless the operator has turned billing off. */
export function useCreditsShown(): boolean {
  return useSession().me.billing !== 'off';
}

/** Returns the permissions of the user's role, to hide actions that the server would refuse. The server checks them in any case. */
export function usePermissions(): { canWrite: boolean; isAdmin: boolean } {
  const { me } = useSession();
  return { canWrite: me.role !== 'project_viewer', isAdmin: me.role === 'tenant_admin' };
}
