'use client';
import { useSyncExternalStore } from 'react';

/** `unsupported`: the browser has no notifications, or gives them to pages under https only. */
export type BrowserPermission = NotificationPermission | 'unsupported';

const listeners = new Set<() => void>();

function read(): BrowserPermission {
  return 'Notification' in window && window.isSecureContext ? Notification.permission : 'unsupported';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // What was changed in the browser's settings is seen when the user comes back.
  window.addEventListener('focus', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('focus', listener);
  };
}

/** Whether this browser may show notifications of the console. */
export function useBrowserPermission(): BrowserPermission {
  return useSyncExternalStore(subscribe, read, () => 'default');
}

/** Asks the user for the permission, unless the answer is known. */
export async function requestBrowserPermission(): Promise<BrowserPermission> {
  if (read() === 'default') await Notification.requestPermission();
  for (const listener of listeners) listener();
  return read();
}
