const FIELDS =
  'input, textarea, select, [contenteditable="true"], [role="combobox"], [role="radiogroup"], [role="checkbox"], [role="switch"]';

/**
 * Gives the focus of a new dialog to its first field, else to its main action, else to a part of its content that scrolls, else to
 * the content itself, from where Tab leads to the first link or button in it. The cross, which is the first button of a dialog, would only
 * close it again.
 */
export function focusDialog(content: Element | null, footer: Element | null): void {
  const place = [
    ...candidates(content, FIELDS),
    ...candidates(footer, '[data-primary]'),
    ...candidates(content, 'section[tabindex="0"]'),
    content,
  ].find(each => each instanceof HTMLElement);
  place?.focus({ preventScroll: true });
  if (place instanceof HTMLInputElement) place.select();
}

/** Returns the elements in `part` that match and can take the focus. */
function candidates(part: Element | null, selector: string): HTMLElement[] {
  const found = [...(part?.querySelectorAll<HTMLElement>(selector) ?? [])];
  return found.filter(
    each => each.tabIndex >= 0 && !each.matches(':disabled') && each.checkVisibility({ visibilityProperty: true }),
  );
}
