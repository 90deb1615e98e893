'use client';
import { Tooltip as Radix } from 'radix-ui';
import { type ReactNode, type RefObject, useEffect } from 'react';
import { Kbd } from './kbd.tsx';
import { TriggerStandIn } from './trigger-stand-in.tsx';

/** The text of an open tooltip. It stays open while the pointer is on it, and Escape closes it. */
export function TooltipBubble({
  id,
  trigger,
  side,
  shortcut,
  onClose,
  children,
}: {
  id: string;
  trigger: RefObject<HTMLElement | null>;
  side: 'top' | 'right' | 'bottom' | 'left';
  shortcut: string | undefined;
  onClose: () => void;
  children: ReactNode;
}) {
  useEffect(() => {
    // The pointer may have left while the code was loaded.
    if (!trigger.current?.matches(':hover, :focus-visible')) onClose();
  }, [trigger, onClose]);
  return (
    <Radix.Provider>
      <Radix.Root open onOpenChange={onClose}>
        <Radix.Trigger asChild>
          <TriggerStandIn element={trigger} />
        </Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            id={id}
            side={side}
            sideOffset={6}
            collisionPadding={8}
            className="z-50 flex max-w-80 items-center gap-2 rounded-md border bg-surface px-2 py-1 text-xs text-text shadow-pop"
          >
            {children}
            {shortcut ? <Kbd>{shortcut}</Kbd> : null}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
