'use client';
import type { ComponentProps } from 'react';
import { cx } from '../ui/classes.ts';
import { Textarea } from '../ui/field.tsx';

/** An input for a secret: hidden, and never stored by the browser. It accepts several lines, for private keys. */
export function SecretInput({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <Textarea
      rows={1}
      autoComplete="off"
      autoCapitalize="off"
      autoCorrect="off"
      spellCheck={false}
      data-1p-ignore
      data-lpignore="true"
      maxLength={8192}
      {...rest}
      className={cx('min-h-8! font-mono [-webkit-text-security:disc]', className)}
    />
  );
}
