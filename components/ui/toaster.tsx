'use client';
import dynamic from 'next/dynamic';
import { useSyncExternalStore } from 'react';
import type { ExternalToast } from 'sonner';
import { readError } from './errors.ts';
import { useLoadedEarly } from './use-opened.ts';

// No page begins with a notice: the list is loaded once the page stands, and what is announced before waits for it.
const loadList = () => import('./toast-list.tsx');
const ToastList = dynamic(() => loadList().then(module => module.ToastList), { ssr: false });

const listeners = new Set<() => void>();
let isWanted = false;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function show(kind: 'success' | 'warning' | 'error', message: string, options?: ExternalToast): void {
  isWanted = true;
  for (const listener of listeners) listener();
  // If it cannot be loaded, the place of the notices says so.
  loadList().then(
    ({ toast }) => toast[kind](message, options),
    () => undefined,
  );
}

/** Says in the corner of the page what has happened. */
export const toast = {
  success: (message: string, options?: ExternalToast) => show('success', message, options),
  warning: (message: string, options?: ExternalToast) => show('warning', message, options),
  error: (message: string, options?: ExternalToast) => show('error', message, options),
};

/** The place of the notices. Once on every page. */
export function Toaster() {
  const isNeeded = useSyncExternalStore(
    subscribe,
    () => isWanted,
    () => false,
  );
  useLoadedEarly(loadList);
  return isNeeded ? <ToastList /> : null;
}

/** Says that an action failed, in the server's own words. */
export function toastError(error: unknown): void {
  const problem = readError(error);
  toast.error(problem.message, problem.requestId ? { description: `Request ${problem.requestId}` } : undefined);
}
