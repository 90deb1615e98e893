'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { readStored, store } from '../ui/browser-storage.ts';
import { BROWSER_NEWS, useBrowserWanted } from './browser-wanted.ts';
import { headlineOf, pageOf } from './headline.ts';
import { identityOf, separateUnseen } from './unseen.ts';

type Delivery = Outputs['me_notifications_deliveries_list']['deliveries'][number];

/** Above this number, one notification states the total. */
const MAX_SHOWN = 3;

/** Shows the notifications that the poll of the inbox reads, once per browser even if several tabs are open. */
export function BrowserNotifications() {
  const trpc = useTRPC();
  const { me } = useSession();
  const isWanted = useBrowserWanted();
  const tenant = me.tenant.id;
  const storageKey = `baton-notified:${me.user.id}:${tenant}`;
  // Not fetched here: the poll of the inbox writes it to the cache.
  const { data } = useQuery(trpc.me_notifications_deliveries_list.queryOptions(BROWSER_NEWS, { enabled: false }));
  useEffect(() => {
    if (!isWanted || data === undefined) return;
    const { unseen, seen } = separateUnseen(data.deliveries, readSeen(storageKey));
    store(storageKey, seen);
    show(unseen, tenant);
  }, [data, isWanted, storageKey, tenant]);
  return null;
}

function show(unseen: readonly Delivery[], tenant: string): void {
  if (unseen.length > MAX_SHOWN) {
    notify(`${unseen.length} new notifications`, 'baton', '/settings/notifications');
    return;
  }
  for (const each of unseen) {
    const page = `${pageOf(each)}?tenant=${encodeURIComponent(tenant)}&project=${each.project_id}`;
    notify(headlineOf(each), identityOf(each), page);
  }
}

/** Tabs that show the same notification at the same time use the same tag, so the browser shows it once. */
function notify(title: string, tag: string, page: string): void {
  try {
    const notification = new Notification(title, { tag, icon: '/icon.svg' });
    notification.onclick = () => {
      window.focus();
      window.location.assign(page);
      notification.close();
    };
  } catch {
    // Chrome on Android shows only notifications of service workers.
  }
}

function readSeen(key: string): string[] | null {
  const kept = readStored(key);
  return Array.isArray(kept) ? kept.map(String) : null;
}
