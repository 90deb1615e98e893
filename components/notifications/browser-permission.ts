'use client';
import { useSyncExternalStore } from 'react';
import { whenIdle } from '../ui/when-idle.ts';

/** `unsupported`: the browser has no notifications, or gives them to pages under https only. */
export type BrowserPermission = NotificationPermission | 'unsupported';

const listeners = new Set<() => void>();
/** The permission that the browser last reported; undefined until it is first read, when the page is idle. */
let known: BrowserPermission | undefined;

/** Asks the browser, which answers from another process: the page stands still until it has. */
function read(): BrowserPermission {
  known = 'Notification' in window && window.isSecureContext ? Notification.permission : 'unsupported';
  return known;
}

function readAgain(): void {
  read();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    // What was changed in the browser's settings is seen when the user comes back.
    window.addEventListener('focus', readAgain);
    if (known === undefined) whenIdle(readAgain);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('focus', readAgain);
  };
}

/** Whether this browser may show notifications of the console. */
export function useBrowserPermission(): BrowserPermission {
  return useSyncExternalStore(
    subscribe,
    () => known ?? 'default',
    () => 'default',
  );
}

/** Whether it may, for what is drawn on every page: any other answer than yes draws nothing again. */
export function useBrowserAllowed(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => known === 'granted',
    () => false,
  );
}

/** Asks the user for the permission, unless the answer is known. */
export async function requestBrowserPermission(): Promise<BrowserPermission> {
  if (read() === 'default') await Notification.requestPermission();
  readAgain();
  return read();
}
