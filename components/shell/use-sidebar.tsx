'use client';
import { usePathname } from 'next/navigation';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { isCollapsed, pageKindOf, type SidebarChoices, storeSidebarChoice } from './sidebar-choice.ts';

type SidebarState = { collapsed: boolean; toggle: () => void };
const SidebarContext = createContext<SidebarState>({ collapsed: false, toggle: () => undefined });

/** Stores in this browser, for each kind of page, whether the sidebar is collapsed. */
export function SidebarProvider({ chosen, children }: { chosen: SidebarChoices; children: ReactNode }) {
  const pathname = usePathname();
  const [choices, setChoices] = useState(chosen);
  const collapsed = isCollapsed(choices, pathname);
  const toggle = useCallback(() => {
    const kind = pageKindOf(pathname);
    storeSidebarChoice(kind, !collapsed);
    setChoices(before => ({ ...before, [kind]: !collapsed }));
  }, [pathname, collapsed]);
  const state = useMemo(() => ({ collapsed, toggle }), [collapsed, toggle]);
  return <SidebarContext value={state}>{children}</SidebarContext>;
}

/** Returns whether the sidebar is collapsed on this page, and a function that changes it. */
export const useSidebar = (): SidebarState => useContext(SidebarContext);
