import { useMemo } from 'react';

/**
 * The last focused element outside of all dialogs. It is needed if a dialog such as the palette opens another one and
 * is gone afterwards.
 */
let outside: HTMLElement | null = null;

/**
 * Returns the `onCloseAutoFocus` of a dialog that its page opens: the focus returns to its previous element. Radix only knows its own
 * triggers and would leave the focus on the body, so that the keyboard would start at the top of the page.
 */
export function useFocusReturn(open: boolean): (event: Event) => void {
  // During rendering, because a field of the dialog has the focus once the dialog is in the document.
  const before = useMemo(() => (open ? rememberPlace() : null), [open]);
  return event => {
    event.preventDefault();
    const place = [before, outside].find(each => each?.isConnected);
    (place ?? document.getElementById('main'))?.focus({ preventScroll: true });
  };
}

function rememberPlace(): HTMLElement | null {
  if (typeof document === 'undefined') return null;
  const element = document.activeElement;
  // A menu entry disappears with its menu, but the menu's button remains.
  const menu = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby') ?? null;
  const place = menu === null ? element : document.getElementById(menu);
  if (!(place instanceof HTMLElement) || place === document.body) return null;
  if (place.closest('[role="dialog"], [role="alertdialog"]') === null) outside = place;
  return place;
}
