'use client';
import { useSyncExternalStore } from 'react';
import { whenIdle } from '../ui/when-idle.ts';

/** `unsupported`: the browser has no notifications, or offers them only over https. */
export type BrowserPermission = NotificationPermission | 'unsupported';

const listeners = new Set<() => void>();
/** The permission that the browser last reported; undefined until it is first read, when the page is idle. */
let lastPermission: BrowserPermission | undefined;

/** Asks the browser, whose answer comes from another process and blocks the page until then. */
function readPermission(): BrowserPermission {
  lastPermission = 'Notification' in window && window.isSecureContext ? Notification.permission : 'unsupported';
  return lastPermission;
}

function readAgain(): void {
  readPermission();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    // A change in the browser's settings is read when the user returns.
    window.addEventListener('focus', readAgain);
    if (lastPermission === undefined) whenIdle(readAgain);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('focus', readAgain);
  };
}

/** Returns this browser's permission for notifications of the console. */
export function useBrowserPermission(): BrowserPermission {
  return useSyncExternalStore(
    subscribe,
    () => lastPermission ?? 'default',
    () => 'default',
  );
}

/** Returns true if the permission is granted. For a part of every page, which then renders again only for a granted permission. */
export function useBrowserAllowed(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => lastPermission === 'granted',
    () => false,
  );
}

/** Asks the user for the permission unless it is known. */
export async function requestBrowserPermission(): Promise<BrowserPermission> {
  if (readPermission() === 'default') await Notification.requestPermission();
  readAgain();
  return readPermission();
}
