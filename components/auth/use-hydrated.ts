'use client';
import { useSyncExternalStore } from 'react';

const subscribeToNothing = () => () => {};

/** Returns false in the server's markup, and true once React handles events: a form sent earlier would be a plain request. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    subscribeToNothing,
    () => true,
    () => false,
  );
}
