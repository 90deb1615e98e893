'use client';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { IconButton } from './button.tsx';
import { cx } from './classes.ts';
import { focusDialog } from './dialog-focus.ts';
import { useFocusReturn } from './use-focus-return.ts';

const widths = { sm: 'sm:max-w-100', md: 'sm:max-w-130', lg: 'sm:max-w-200', full: 'h-[calc(100dvh-32px)]' };

/**
 * A modal dialog. It keeps the focus inside, initially in a field with `autoFocus` or in the first field, and is closed
 * by Escape and the close button. Actions go in `footer`.
 */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  size = 'md',
  footer,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  size?: keyof typeof widths;
  footer?: ReactNode;
  children?: ReactNode;
}) {
  const onCloseAutoFocus = useFocusReturn(open);
  const content = useRef<HTMLDivElement>(null);
  const actions = useRef<HTMLDivElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          onOpenAutoFocus={event => {
            event.preventDefault();
            focusDialog(content.current, actions.current);
          }}
          onCloseAutoFocus={onCloseAutoFocus}
          className={cx(
            'fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-32px)] w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border bg-surface shadow-pop animate-in',
            widths[size],
          )}
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-4 pb-3">
            <div>
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description ? (
                <Radix.Description className="mt-0.5 text-sm text-muted">{description}</Radix.Description>
              ) : null}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" size="sm" tooltip={false}>
                <X aria-hidden className="size-4" />
              </IconButton>
            </Radix.Close>
          </div>
          <div ref={content} tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto px-5 pt-1 pb-5 outline-none">
            {children}
          </div>
          {footer ? (
            <div ref={actions} className="flex justify-end gap-2 border-t px-5 py-3">
              {footer}
            </div>
          ) : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
