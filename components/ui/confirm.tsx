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
  /** The label of the button that closes the dialog. */
  cancel?: string;
  tone?: 'danger' | 'primary';
  /** The initially focused button. Use `action` only if a dedicated key opened the dialog. */
  focus?: 'cancel' | 'action';
  pending?: boolean;
  error?: string | null | undefined;
  onConfirm?: () => void;
};

/**
 * Asks before an action that cannot be undone. The caller closes the dialog, so that it can show an error. Without an `action` it only
 * informs.
 */
export function Confirm(props: ConfirmProps) {
  useLoadedEarly(loadDialog);
  return useOpened(props.open) ? <ConfirmDialog {...props} /> : null;
}
