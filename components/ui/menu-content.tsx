'use client';
import { Check } from 'lucide-react';
import { DropdownMenu as Radix } from 'radix-ui';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { cx } from './classes.ts';
import { Kbd } from './kbd.tsx';
import { type MenuChoiceProps, type MenuItemProps, type MenuParts, MenuPartsContext } from './menu-parts.ts';
import { TriggerStandIn } from './trigger-stand-in.tsx';

const itemClass =
  'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none select-none data-highlighted:bg-hover data-disabled:text-faint data-disabled:pointer-events-none';

const parts: MenuParts = {
  Item: ({ icon, shortcut, danger = false, disabled, onSelect, children }: MenuItemProps) => (
    <Radix.Item disabled={disabled} onSelect={onSelect} className={cx(itemClass, danger && 'text-bad')}>
      {icon}
      <span className="flex-1">{children}</span>
      {shortcut ? <Kbd>{shortcut}</Kbd> : null}
    </Radix.Item>
  ),
  Choice: ({ checked, keepsOpen = false, onSelect, children }: MenuChoiceProps) => (
    <Radix.CheckboxItem
      checked={checked}
      onSelect={event => {
        if (keepsOpen) event.preventDefault();
        onSelect();
      }}
      className={cx(itemClass, 'pl-7 relative')}
    >
      <Radix.ItemIndicator className="absolute left-2">
        <Check aria-hidden className="size-3.5" />
      </Radix.ItemIndicator>
      {children}
    </Radix.CheckboxItem>
  ),
  Label: ({ children }) => <Radix.Label className="px-2 pt-1.5 pb-1 text-xs text-faint">{children}</Radix.Label>,
  Separator: () => <Radix.Separator className="my-1 h-px bg-line" />,
};

/**
 * Focuses the first entry of a menu that a key has opened. Radix does this only if it was loaded before the key was pressed. If the focus
 * is already inside, Radix leaves it there.
 */
function FocusFirstItem() {
  const marker = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const items = marker.current?.parentElement?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [];
    for (const item of items) {
      if (item.dataset.disabled !== undefined) continue;
      item.focus({ preventScroll: true });
      return;
    }
  }, []);
  return <span ref={marker} hidden />;
}

/** Keeps the focus where an entry has moved it, such as on a field that the entry has added. Otherwise the focus returns to the trigger. */
function keepFocus(event: Event): void {
  if (document.activeElement !== document.body) event.preventDefault();
}

/** The entries of a menu, beside the trigger that has opened it. */
export function MenuContent({
  id,
  labelledBy,
  trigger,
  opened,
  onClose,
  align,
  side,
  children,
}: {
  id: string;
  labelledBy: string;
  trigger: RefObject<HTMLElement | null>;
  opened: 'pointer' | 'keyboard' | null;
  onClose: () => void;
  align: 'start' | 'center' | 'end';
  side: 'top' | 'bottom' | 'right';
  children: ReactNode;
}) {
  return (
    <Radix.Root modal={false} open={opened !== null} onOpenChange={open => open || onClose()}>
      <Radix.Trigger asChild>
        <TriggerStandIn element={trigger} />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          id={id}
          aria-labelledby={labelledBy}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={keepFocus}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg border bg-surface p-1 shadow-pop animate-in"
        >
          <MenuPartsContext value={parts}>
            {opened === 'keyboard' ? <FocusFirstItem /> : null}
            {children}
          </MenuPartsContext>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
