import { ChevronDown } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './classes.ts';
import { controlClass, useFieldProps } from './field.tsx';

type Props = ComponentProps<'button'> & {
  /** The id of the list that the button opens. */
  list: string;
  open: boolean;
  size: 'sm' | 'md';
  /** The label of the chosen option. */
  chosen: ReactNode;
  placeholder: string | undefined;
};

/** The box of a `Select` or `SearchSelect`: the chosen option, or the placeholder, and an arrow. */
export function SelectTrigger({ list, open, size, chosen, placeholder, className, ...button }: Props) {
  return (
    <button
      type="button"
      role="combobox"
      {...useFieldProps()}
      {...button}
      aria-expanded={open}
      aria-controls={open ? list : undefined}
      data-placeholder={chosen === undefined ? '' : undefined}
      className={cx(
        controlClass,
        'flex items-center justify-between gap-2 text-left',
        size === 'sm' ? 'h-7 text-xs' : 'h-8',
        className,
      )}
    >
      <span className="truncate">{chosen ?? placeholder}</span>
      <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
    </button>
  );
}
