'use client';
import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** False in the server's markup, true once React listens: a form sent before that would go out as a plain request. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
