'use client';
import { type Ref, type RefObject, useLayoutEffect } from 'react';

/**
 * Registers `element` as the trigger of the enclosing Radix root, and renders nothing. Pass it to a Radix `Trigger`
 * with `asChild`. The element itself is rendered before Radix is loaded, and keeps its place and its focus afterwards.
 */
export function TriggerStandIn({
  element,
  ref,
}: {
  element: RefObject<HTMLElement | null>;
  ref?: Ref<HTMLElement> | undefined;
}) {
  useLayoutEffect(() => {
    if (typeof ref !== 'function') return;
    const cleanUp = ref(element.current);
    return () => {
      if (typeof cleanUp === 'function') cleanUp();
      else ref(null);
    };
  }, [element, ref]);
  return null;
}
