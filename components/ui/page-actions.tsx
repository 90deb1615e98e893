'use client';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { isOfPage, notify, subscribe } from './menu-offers.ts';
import { type MenuChoiceProps, type MenuItemProps, MenuPartsContext } from './menu-parts.ts';

/** An action of the current page in the palette. */
export type PageAction = {
  label: string;
  /** The name of its menu or tab list. */
  hint?: string;
  run: () => void;
};

type Item = PageAction & { key: symbol };
let items: readonly Item[] = [];

function register(action: PageAction): () => void {
  const item = { ...action, key: Symbol(action.label) };
  items = [...items, item];
  notify();
  return () => {
    items = items.filter(each => each.key !== item.key);
    notify();
  };
}

/** Returns the entries of the page's menus. The menus provide them while the caller is mounted. */
export function useMenuActions(): readonly PageAction[] {
  useEffect(() => {
    notify(true);
    return () => {
      notify(false);
    };
  }, []);
  return useSyncExternalStore(
    subscribe,
    () => items,
    () => items,
  );
}

const MenuName = createContext('');

/** Provides the entries of a menu to the palette, without rendering them. */
export function MenuActions({ name, children }: { name: string; children: ReactNode }) {
  const parts = useMemo(() => ({ Item: OfferedItem, Choice: OfferedChoice, Label: Nothing, Separator: Nothing }), []);
  return (
    <MenuName value={name}>
      <MenuPartsContext value={parts}>{children}</MenuPartsContext>
    </MenuName>
  );
}

const Nothing = () => null;

function OfferedItem({ children, disabled, onSelect }: MenuItemProps) {
  return disabled || !onSelect ? null : <Offer run={onSelect}>{children}</Offer>;
}

function OfferedChoice({ children, checked, onSelect }: MenuChoiceProps) {
  return checked ? null : <Offer run={onSelect}>{children}</Offer>;
}

function Offer({ run, children }: { run: () => void; children: ReactNode }) {
  const name = useContext(MenuName);
  const label = textOf(children).trim();
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => (label ? register({ label, hint: name, run: () => latest.current() }) : undefined), [label, name]);
  return null;
}

/** Returns the text of an entry, without its icons. */
function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  return Array.isArray(node) ? node.map(textOf).join('') : '';
}

const MAX_LABEL = 60;

/** Returns the buttons, tabs and links that are actions of the current page, once per name. */
export function readPageButtons(root: ParentNode = document): PageAction[] {
  const found = new Map<string, PageAction>();
  const candidates = root.querySelectorAll<HTMLElement>(
    '#main button:not([aria-haspopup="menu"]), #main [role="tab"], #main [data-page-actions] a',
  );
  for (const element of candidates) {
    const label = nameOf(element);
    if (!label || label.length > MAX_LABEL || found.has(label) || !isAction(element)) continue;
    const tabs = element.closest('[role="tablist"]')?.getAttribute('aria-label');
    found.set(label, { label, ...(tabs ? { hint: tabs } : {}), run: () => press(element) });
  }
  return [...found.values()];
}

const FIELDS: readonly string[] = ['combobox', 'switch', 'checkbox', 'radio', 'option'];

function isAction(element: HTMLElement): boolean {
  const role = element.getAttribute('role') ?? '';
  if (FIELDS.includes(role) || element.getAttribute('aria-selected') === 'true') return false;
  if (element.matches(':disabled, [aria-disabled="true"]') || !isOfPage(element)) return false;
  return element.getClientRects().length > 0;
}

const nameOf = (element: HTMLElement): string =>
  (element.getAttribute('aria-label') ?? element.textContent ?? '').replaceAll(/\s+/g, ' ').trim();

function press(element: HTMLElement): void {
  element.focus();
  // A tab is selected by pressing the mouse; other buttons are activated by a click.
  if (element.getAttribute('role') === 'tab')
    element.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, button: 0 }));
  else element.click();
}
