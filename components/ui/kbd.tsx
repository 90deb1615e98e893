'use client';
import { createContext, useContext } from 'react';
import { shortcutText } from './shortcut.ts';

/** True for an Apple keyboard. The server reads it from the request, so that the first paint is right. */
export const AppleKeys = createContext(false);

/** Returns a shortcut written with Apple’s signs, such as “⌘ K”, in the notation of the user’s system. */
export function useShortcutText(keys: string): string {
  return shortcutText(keys, useContext(AppleKeys));
}

/** A key on the keyboard, or several that are pressed together. */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-sm border border-line bg-sunken px-1 font-sans text-xs text-muted">
      {useShortcutText(children)}
    </kbd>
  );
}
