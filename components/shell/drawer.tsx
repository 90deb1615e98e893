'use client';
import { Dialog as Radix, VisuallyHidden } from 'radix-ui';
import type { ReactNode } from 'react';
import { useFocusReturn } from '../ui/use-focus-return.ts';

/** The navigation on a narrow screen, which slides over the page. */
export function Drawer({
  open,
  onOpenChange,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}) {
  const onCloseAutoFocus = useFocusReturn(open);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim lg:hidden" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={onCloseAutoFocus}
          className="fixed inset-y-0 left-0 z-40 w-70 max-w-[85vw] border-r bg-sunken shadow-pop lg:hidden"
        >
          <VisuallyHidden.Root>
            <Radix.Title>Navigation</Radix.Title>
          </VisuallyHidden.Root>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
