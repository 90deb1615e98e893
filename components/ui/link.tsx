'use client';
import NextLink from 'next/link';
import { type ComponentProps, useState } from 'react';

/**
 * A link within the console. Its page is prefetched when the pointer or the focus is on the link. Next's default, to prefetch when a link
 * scrolls into view, made two requests per link: up to 36 for the sidebar, and 100 for a list.
 */
export function Link({ onPointerEnter, onFocus, ...props }: Omit<ComponentProps<typeof NextLink>, 'prefetch'>) {
  const [isNear, setIsNear] = useState(false);
  return (
    <NextLink
      {...props}
      prefetch={isNear ? null : false}
      onPointerEnter={event => {
        setIsNear(true);
        onPointerEnter?.(event);
      }}
      onFocus={event => {
        setIsNear(true);
        onFocus?.(event);
      }}
    />
  );
}
