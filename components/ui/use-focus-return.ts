import { useMemo } from 'react';

/** The latest place outside of every dialog: one that opens another, such as the palette, is gone once that is closed. */
let outside: HTMLElement | null = null;

/**
 * Returns the `onCloseAutoFocus` of a dialog that is opened by its page: the focus returns to where it was. Radix only knows
 * triggers of its own, and would leave it on the body, from where the keyboard begins at the top of the page.
 */
export function useFocusReturn(open: boolean): (event: Event) => void {
  // While it is rendered: once it is in the document, a field of it has the focus.
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
  // An entry of a menu goes with its menu, whose button stays.
  const menu = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby') ?? null;
  const place = menu === null ? element : document.getElementById(menu);
  if (!(place instanceof HTMLElement) || place === document.body) return null;
  if (place.closest('[role="dialog"], [role="alertdialog"]') === null) outside = place;
  return place;
}
