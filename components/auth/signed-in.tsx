'use client';
import { useEffect } from 'react';
import { tellTabs } from '../trpc/session-gate.ts';
import { Link } from '../ui/link.tsx';

/** Tells the other tabs of the browser that a session has started, and opens the page that was wanted. */
export function SignedIn({ next }: { next: string }) {
  useEffect(() => {
    tellTabs({ says: 'signed-in' });
    window.location.replace(next);
  }, [next]);
  return (
    <>
      <h1 className="text-lg font-semibold">You are signed in</h1>
      <p className="mt-1 text-sm text-muted">
        <Link href={next} className="text-accent-text underline underline-offset-2">
          Continue
        </Link>
      </p>
    </>
  );
}
