'use client';
import type { LucideIcon } from 'lucide-react';
import { type ComponentProps, type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { cx } from './classes.ts';
import { Input } from './field.tsx';
import type { PickerList } from './picker-popover.tsx';
import { useLoadedEarly, useOpened } from './use-opened.ts';

type Props = Omit<ComponentProps<typeof Input>, 'onChange' | 'children'> & {
  onChange: (text: string) => void;
  /** Whether the text is not a valid value. It is marked once the user has left the field. */
  isWrong: boolean;
  /** The accessible name of the button that opens the list. */
  choose: string;
  icon: LucideIcon;
  /** Loads the code of the list. */
  load: () => Promise<unknown>;
  /** Renders the list, which calls `onOpenChange(false)` to close. */
  children: (list: PickerList) => ReactNode;
};

/**
 * A field whose value is typed or chosen from a list below it, which is loaded on demand. The down arrow key also opens
 * the list.
 */
export function PickerField(props: Props) {
  const { onChange, isWrong, choose, icon: Icon, load, className, children, ...input } = props;
  const [isLeft, setIsLeft] = useState(true);
  const anchor = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useLoadedEarly(load);
  const hasList = useOpened(open);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    setOpen(true);
  };
  return (
    <div ref={anchor} className={cx('relative', className)}>
      <Input
        {...input}
        autoComplete="off"
        {...(isLeft && isWrong ? { 'aria-invalid': true } : {})}
        onChange={event => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        onFocus={() => setIsLeft(false)}
        onBlur={() => setIsLeft(true)}
        className="pr-8 tabular-nums"
      />
      <IconButton
        label={choose}
        tooltip={false}
        size="sm"
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="absolute top-0.5 right-0.5 focus-visible:-outline-offset-2"
      >
        <Icon aria-hidden className="size-3.5" />
      </IconButton>
      {hasList ? children({ anchor, open, onOpenChange: setOpen }) : null}
    </div>
  );
}
