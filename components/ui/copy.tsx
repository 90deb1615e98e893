'use client';
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { cx } from './classes.ts';
import { Tooltip } from './tooltip.tsx';

/** Copies text. `copied` is true for 1.5 s afterwards. */
export function useCopy(): { copied: boolean; copy: (text: string) => Promise<void> } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (text: string) => {
    await writeClipboard(text);
    setCopied(true);
  };
  return { copied, copy };
}

/** The clipboard API is missing on plain http except on localhost, and self-hosted consoles often use http. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const { copied, copy } = useCopy();
  return (
    <IconButton label={copied ? 'Copied' : label} size="sm" onClick={() => void copy(text)}>
      {copied ? <Check aria-hidden className="size-3.5 text-ok" /> : <Copy aria-hidden className="size-3.5" />}
    </IconButton>
  );
}

type CopyIdProps = { id: string; name?: string | undefined; full?: boolean; className?: string };

/** An id, shortened if it is a UUID, or `name` in its place. A click copies the whole id. */
export function CopyId({ id, name, full = false, className }: CopyIdProps) {
  const { copied, copy } = useCopy();
  const short = full || id.length <= 16 ? id : `${id.slice(0, 4)}…${id.slice(-8)}`;
  return (
    <Tooltip content={copied ? 'Copied' : <span className="font-mono">{id}</span>}>
      <button
        type="button"
        aria-label={name === undefined ? `Copy ${id}` : `Copy the ID of ${name}`}
        onClick={() => void copy(id)}
        className={cx(
          'inline-flex min-w-0 items-center gap-1 rounded-sm text-xs text-muted hover:text-text [&_svg]:opacity-0 hover:[&_svg]:opacity-100 focus-visible:[&_svg]:opacity-100',
          name === undefined && 'font-mono',
          className,
        )}
      >
        {name === undefined ? short : <span className="truncate">{name}</span>}
        {copied ? (
          <Check aria-hidden className="size-3 text-ok opacity-100!" />
        ) : (
          <Copy aria-hidden className="size-3" />
        )}
      </button>
    </Tooltip>
  );
}

/** A value to copy elsewhere, such as a token or a link: read-only, selected on focus, with a copy button. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <div className="flex items-center gap-1 rounded-md border bg-sunken py-0.5 pr-0.5 pl-2.5">
      <input
        readOnly
        aria-label={label}
        value={value}
        onFocus={event => event.currentTarget.select()}
        className="min-w-0 flex-1 bg-transparent py-1 font-mono text-xs outline-none"
      />
      <CopyButton text={value} label={`Copy ${label.toLowerCase()}`} />
    </div>
  );
}
