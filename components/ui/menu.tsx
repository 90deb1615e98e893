'use client';
import dynamic from 'next/dynamic';
import { Slot } from 'radix-ui';
import { type KeyboardEvent, type PointerEvent, type ReactNode, use, useId, useRef, useState } from 'react';
import { isOfPage, useIsCollecting } from './menu-offers.ts';
import { type MenuChoiceProps, type MenuItemProps, MenuPartsContext } from './menu-parts.ts';
import { useLoadedEarly, useOpened } from './use-opened.ts';

const loadContent = () => import('./menu-content.tsx');
const MenuActions = dynamic(() => import('./page-actions.tsx').then(module => module.MenuActions), { ssr: false });
const MenuContent = dynamic(() => loadContent().then(module => module.MenuContent), { ssr: false });

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
  const element = useRef<HTMLElement>(null);
  const id = useId();
  const contentId = useId();
  const [opened, setOpened] = useState<'pointer' | 'keyboard' | null>(null);
  useLoadedEarly(loadContent);
  const hasContent = useOpened(opened !== null);
  const offers = useIsCollecting() && isOfPage(element.current);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || event.ctrlKey) return;
    setOpened(opened === null ? 'pointer' : null);
    // The menu takes the focus, and not the trigger.
    if (opened === null) event.preventDefault();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!['Enter', ' ', 'ArrowDown'].includes(event.key)) return;
    event.preventDefault();
    setOpened(opened === null || event.key === 'ArrowDown' ? 'keyboard' : null);
  };
  return (
    <>
      <Slot.Root
        ref={element}
        id={id}
        aria-haspopup="menu"
        aria-expanded={opened !== null}
        {...(opened === null ? {} : { 'aria-controls': contentId })}
        data-state={opened === null ? 'closed' : 'open'}
        onPointerDown={onPointerDown}
        onKeyDown={onKeyDown}
      >
        {trigger}
      </Slot.Root>
      {offers ? <MenuActions name={element.current?.getAttribute('aria-label') ?? ''}>{children}</MenuActions> : null}
      {hasContent ? (
        <MenuContent
          id={contentId}
          labelledBy={id}
          trigger={element}
          opened={opened}
          onClose={() => setOpened(null)}
          align={align}
          side={side}
        >
          {children}
        </MenuContent>
      ) : null}
    </>
  );
}

/** One entry of a menu. */
export function MenuItem(props: MenuItemProps) {
  const parts = use(MenuPartsContext);
  return parts && <parts.Item {...props} />;
}

/** One of several entries, exactly one of which is checked. */
export function MenuChoice(props: MenuChoiceProps) {
  const parts = use(MenuPartsContext);
  return parts && <parts.Choice {...props} />;
}

export function MenuLabel({ children }: { children: ReactNode }) {
  const parts = use(MenuPartsContext);
  return parts && <parts.Label>{children}</parts.Label>;
}

export function MenuSeparator() {
  const parts = use(MenuPartsContext);
  return parts && <parts.Separator />;
}
