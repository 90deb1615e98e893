'use client';
import { Check } from 'lucide-react';
import { DropdownMenu as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from './classes.ts';
import { Kbd } from './kbd.tsx';

/** A menu behind `trigger` (one element that takes a ref). */
export function Menu({
  trigger,
  align = 'end',
  side = 'bottom',
  children,
}: {
  trigger: ReactNode;
  align?: 'start' | 'center' | 'end';
  side?: 'top' | 'bottom' | 'right';
  children: ReactNode;
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg border bg-surface p-1 shadow-pop animate-in"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const itemClass =
  'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none select-none data-highlighted:bg-hover data-disabled:text-faint data-disabled:pointer-events-none';

/** One entry. `asChild` lets a link be the entry. */
export function MenuItem({
  icon,
  shortcut,
  danger = false,
  disabled,
  asChild = false,
  onSelect,
  children,
}: {
  icon?: ReactNode;
  shortcut?: string;
  danger?: boolean;
  disabled?: boolean;
  asChild?: boolean;
  onSelect?: () => void;
  children: ReactNode;
}) {
  const className = cx(itemClass, danger && 'text-bad');
  if (asChild)
    return (
      <Radix.Item asChild disabled={disabled} onSelect={onSelect} className={className}>
        {children}
      </Radix.Item>
    );
  return (
    <Radix.Item disabled={disabled} onSelect={onSelect} className={className}>
      {icon}
      <span className="flex-1">{children}</span>
      {shortcut ? <Kbd>{shortcut}</Kbd> : null}
    </Radix.Item>
  );
}

/** One of several entries of which exactly one is ticked. */
export function MenuChoice({
  checked,
  onSelect,
  children,
}: {
  checked: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Radix.CheckboxItem checked={checked} onSelect={onSelect} className={cx(itemClass, 'pl-7 relative')}>
      <Radix.ItemIndicator className="absolute left-2">
        <Check aria-hidden className="size-3.5" />
      </Radix.ItemIndicator>
      {children}
    </Radix.CheckboxItem>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 pt-1.5 pb-1 text-xs text-faint">{children}</Radix.Label>;
}

export function MenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
