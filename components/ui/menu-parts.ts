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
  /** Keeps the menu open, for a choice that changes its other entries. */
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

/** The components that render entries of an open menu. The content provides them, and its code is loaded after the page. */
export const MenuPartsContext = createContext<MenuParts | null>(null);
