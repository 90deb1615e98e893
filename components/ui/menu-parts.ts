'use client';
import { type ComponentType, createContext, type ReactNode } from 'react';

export type MenuItemProps = {
  icon?: ReactNode;
  shortcut?: string;
  danger?: boolean;
  disabled?: boolean;
  onSelect?: () => void;
  children: ReactNode;
};
export type MenuChoiceProps = {
  checked: boolean;
  /** Leaves the menu open, for a choice that changes its other entries. */
  keepsOpen?: boolean;
  onSelect: () => void;
  children: ReactNode;
};
export type MenuParts = {
  Item: ComponentType<MenuItemProps>;
  Choice: ComponentType<MenuChoiceProps>;
  Label: ComponentType<{ children: ReactNode }>;
  Separator: ComponentType;
};

/** How the entries of an open menu are drawn: given by the content, whose code is loaded after the page. */
export const MenuPartsContext = createContext<MenuParts | null>(null);
