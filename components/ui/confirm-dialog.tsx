'use client';
import { AlertDialog as Radix } from 'radix-ui';
import { useRef } from 'react';
import { Button, buttonClass } from './button.tsx';
import type { ConfirmProps } from './confirm.tsx';
import { useFocusReturn } from './use-focus-return.ts';

/** The dialog of a `Confirm`. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  children,
  action,
  cancel = 'Cancel',
  tone = 'danger',
  focus = 'cancel',
  pending = false,
  error,
  onConfirm,
}: ConfirmProps) {
  const actionButton = useRef<HTMLButtonElement>(null);
  const onCloseAutoFocus = useFocusReturn(open);
  const onOpenAutoFocus = (event: Event) => {
    if (focus === 'cancel') return;
    event.preventDefault();
    actionButton.current?.focus();
  };
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          onOpenAutoFocus={onOpenAutoFocus}
          onCloseAutoFocus={onCloseAutoFocus}
          className="fixed top-1/2 left-1/2 z-40 w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 rounded-xl border bg-surface p-5 shadow-pop animate-in sm:max-w-100"
        >
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
              <Button ref={actionButton} variant={tone} pending={pending} onClick={onConfirm}>
                {action}
              </Button>
            )}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
