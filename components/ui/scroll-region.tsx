import type { ComponentProps } from 'react';
import { cx } from './classes.ts';

/** A part of the page that scrolls. It takes the focus, so that the keyboard can scroll it too (axe scrollable-region-focusable). */
export function ScrollRegion({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'section'>, 'tabIndex'> & { label: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
      tabIndex={0}
      // Positioned, so that hidden text for screen readers is clipped too and cannot widen the page.
      className={cx('relative', className)}
      {...rest}
    />
  );
}
