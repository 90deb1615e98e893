'use client';
import { usePermissions, useSession } from '../session/session.tsx';
import { type ConsolePage, pagesFor } from './pages.ts';

/** Returns the pages of the main navigation and of the settings that this user may use on this deployment. */
export function usePages(): { main: readonly ConsolePage[]; settings: readonly ConsolePage[] } {
  const { billing, agents, memory } = useSession().me;
  return pagesFor({ ...usePermissions(), billing, agents, memory });
}
