'use client';
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { useHotkeys } from '../ui/use-hotkeys.ts';

type Asked = { task: string; approved: boolean };
const AskedContext = createContext<{ asked: Asked | null; clear: () => void }>({ asked: null, clear: () => undefined });

/**
 * Keeps the decision of a pressed `a` or `r` until the task can ask for confirmation: the task or the page may still be
 * loading. `target` names the task that a key applies to.
 */
export function AskedDecision({ target, children }: { target: () => string | null; children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const askFor = (approved: boolean) => {
    const task = target();
    setAsked(task === null ? null : { task, approved });
  };
  useHotkeys({ a: () => askFor(true), r: () => askFor(false) });
  const value = useMemo(() => ({ asked, clear: () => setAsked(null) }), [asked]);
  return <AskedContext value={value}>{children}</AskedContext>;
}

/** Calls `decide` with the decision of a pressed key. Without `decide`, the key is ignored. */
export function useAskedDecision(task: string, decide: ((approved: boolean) => void) | null): void {
  const { asked, clear } = use(AskedContext);
  useEffect(() => {
    if (asked?.task !== task) return;
    clear();
    decide?.(asked.approved);
  });
}
