'use client';
import { usePathname, useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

/**
 * Uses search parameters as state, so that a page can be shared and Back works. `set` merges, and removes an empty or undefined value from
 * the URL. It uses the History API directly: Next keeps `useSearchParams` in sync with it and sends no request to the server. `push`
 * creates a Back step (a page, a tab); the default replaces the entry (typing into a filter).
 */
export function useUrlState(): {
  get: (key: string) => string;
  set: (patch: Record<string, string | undefined>, options?: { push?: boolean }) => void;
} {
  const params = useSearchParams();
  const pathname = usePathname();
  const get = useCallback((key: string) => params.get(key) ?? '', [params]);
  const set = useCallback(
    (patch: Record<string, string | undefined>, options: { push?: boolean } = {}) => {
      const next = new URLSearchParams(window.location.search);
      for (const [key, value] of Object.entries(patch)) {
        if (value) next.set(key, value);
        else next.delete(key);
      }
      const query = next.toString();
      const url = query ? `${pathname}?${query}` : pathname;
      if (options.push) window.history.pushState(null, '', url);
      else window.history.replaceState(null, '', url);
    },
    [pathname],
  );
  return { get, set };
}
