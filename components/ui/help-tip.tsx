'use client';
import { CircleHelp } from 'lucide-react';
import { useState } from 'react';
import { cx } from './classes.ts';
import { Tooltip } from './tooltip.tsx';

/**
 * An explanation behind a button: pointer and focus show it as a tooltip, a click or tap shows it in place. `id` can
 * describe a control even while the explanation is hidden.
 */
export function HelpTip({ id, about, children }: { id: string; about: string; children: string }) {
  const [open, setOpen] = useState(false);
  const button = (
    <button
      type="button"
      aria-label={about === '' ? 'Help' : `Help: ${about}`}
      aria-expanded={open}
      onClick={() => setOpen(!open)}
      className="relative inline-flex size-4 items-center justify-center rounded-full text-faint after:absolute after:-inset-1 hover:text-text"
    >
      <CircleHelp aria-hidden className="size-3.5" />
    </button>
  );
  return (
    <>
      {open ? button : <Tooltip content={children}>{button}</Tooltip>}
      <span id={id} className={cx('text-xs text-muted', open ? 'basis-full wrap-anywhere' : 'sr-only')}>
        {children}
      </span>
    </>
  );
}
