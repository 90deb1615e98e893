'use client';
import dynamic from 'next/dynamic';
import type { ReactNode } from 'react';
import { useLoadedEarly, useOpened } from './use-opened.ts';

const loadDialog = () => import('./confirm-dialog.tsx');
const ConfirmDialog = dynamic(() => loadDialog().then(module => module.ConfirmDialog), { ssr: false });

export type ConfirmProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  children: ReactNode;
  /** The verb on the button: "Archive", not "OK". */
  action?: string | undefined;
  /** The button that closes it. */
  cancel?: string;
  tone?: 'danger' | 'primary';
  /** The button that is focused at first: the action only where it was asked for by a key of its own. */
  focus?: 'cancel' | 'action';
  pending?: boolean;
  error?: string | null | undefined;
  onConfirm?: () => void;
};

/**
 * Asks before an action that cannot be undone. It stays open until the caller closes it, so that an error can be shown.
 * Without an `action` it only informs.
 */
export function Confirm(props: ConfirmProps) {
  useLoadedEarly(loadDialog);
  return useOpened(props.open) ? <ConfirmDialog {...props} /> : null;
}
