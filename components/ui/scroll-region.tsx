import type { ComponentProps } from 'react';

/** A part of the page that scrolls by itself; it takes focus, so that the keyboard can scroll it too (axe scrollable-region-focusable). */
export function ScrollRegion({ label, ...rest }: Omit<ComponentProps<'section'>, 'tabIndex'> & { label: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
      tabIndex={0}
      {...rest}
    />
  );
}
