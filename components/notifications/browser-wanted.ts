'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { useBrowserAllowed } from './browser-permission.ts';

/** The query for browser notifications, which the poll of the inbox reads together with its tasks. */
export const BROWSER_NEWS = { channel: 'browser', limit: 20 } as const;

/** Returns true if the user wants notifications in the browser, and this browser may show them. */
export function useBrowserWanted(): boolean {
  const trpc = useTRPC();
  const isAllowed = useBrowserAllowed();
  const { data } = useQuery(
    trpc.me_notifications_get.queryOptions(undefined, { enabled: isAllowed, staleTime: 300_000 }),
  );
  return isAllowed && data !== undefined && data.browser.length > 0;
}
