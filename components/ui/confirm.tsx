'use client';
import { AlertDialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button, buttonClass } from './button.tsx';

/**
 * Asks before an action that cannot be undone. It stays open until the caller closes it, so that an error can be shown.
 * Without an `action` it only informs.
 */
export function Confirm({
  open,
  onOpenChange,
  title,
  children,
  action,
  cancel = 'Cancel',
  tone = 'danger',
  pending = false,
  error,
  onConfirm,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  children: ReactNode;
  /** The verb on the button: "Archive", not "OK". */
  action?: string | undefined;
  /** The button that closes it. */
  cancel?: string;
  tone?: 'danger' | 'primary';
  pending?: boolean;
  error?: string | null | undefined;
  onConfirm?: () => void;
}) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content className="fixed top-1/2 left-1/2 z-40 w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 rounded-xl border bg-surface p-5 shadow-pop animate-in sm:max-w-100">
          <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
          <Radix.Description asChild>
            <div className="mt-1 text-sm text-muted">{children}</div>
          </Radix.Description>
          {error ? (
            <p role="alert" className="mt-3 text-sm text-bad">
              {error}
            </p>
          ) : null}
          <div className="mt-5 flex justify-end gap-2">
            <Radix.Cancel className={buttonClass('secondary')}>{cancel}</Radix.Cancel>
            {action === undefined ? null : (
              <Button variant={tone} pending={pending} onClick={onConfirm}>
                {action}
              </Button>
            )}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
