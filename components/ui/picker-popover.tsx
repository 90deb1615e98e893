'use client';
import { Popover } from 'radix-ui';
import type { ReactNode, RefObject } from 'react';
import { cx } from './classes.ts';
import { TriggerStandIn } from './trigger-stand-in.tsx';

/** How a field opens and places its list. */
export type PickerList = {
  /** The field; the list opens beneath it. */
  anchor: RefObject<HTMLElement | null>;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** A list or calendar beneath its field, which takes the focus again when it closes. */
export function PickerPopover({
  anchor,
  open,
  onOpenChange,
  id,
  label,
  asWide = false,
  className,
  children,
}: PickerList & {
  id?: string;
  label: string;
  /** Whether the list is at least as wide as the field. */
  asWide?: boolean;
  className: string;
  children: ReactNode;
}) {
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>
        <TriggerStandIn element={anchor} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          {...(id ? { id } : {})}
          aria-label={label}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={event => {
            event.preventDefault();
            (anchor.current?.querySelector('input') ?? anchor.current)?.focus();
          }}
          {...(asWide ? { style: { minWidth: anchor.current?.offsetWidth } } : {})}
          className={cx('z-50 rounded-lg border bg-surface shadow-pop', className)}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
