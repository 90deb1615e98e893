'use client';
import dynamic from 'next/dynamic';
import { useSyncExternalStore } from 'react';
import type { ExternalToast } from 'sonner';
import { readError } from './errors.ts';
import { useLoadedEarly } from './use-opened.ts';

// Loaded after the page, because no page starts with a toast. Earlier toasts wait for the list.
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
  // A failure to load the list is shown in its place.
  loadList().then(
    ({ toast }) => toast[kind](message, options),
    () => undefined,
  );
}

/** Shows a message in the corner of the page. */
export const toast = {
  success: (message: string, options?: ExternalToast) => show('success', message, options),
  warning: (message: string, options?: ExternalToast) => show('warning', message, options),
  error: (message: string, options?: ExternalToast) => show('error', message, options),
};

/** The place of toasts; each page has one. */
export function Toaster() {
  const isNeeded = useSyncExternalStore(
    subscribe,
    () => isWanted,
    () => false,
  );
  useLoadedEarly(loadList);
  return isNeeded ? <ToastList /> : null;
}

/** Says that an action failed, with the server's message. */
export function toastError(error: unknown): void {
  const problem = readError(error);
  toast.error(problem.message, problem.requestId ? { description: `Request ${problem.requestId}` } : undefined);
}
