'use client';
import { useRef, useState } from 'react';
import { cx } from '../../ui/classes.ts';

const MAX_LENGTH = 200;

type NameProps = {
  name: string;
  editable: boolean;
  /** Whether the field takes the focus, because the user chose to rename the workflow elsewhere. */
  hasRenameRequest: boolean;
  onAsked: () => void;
  onRename: (name: string) => void;
};

/** The workflow name as the heading of the page. A click turns the heading into a field. Enter renames, Escape keeps the old name. */
export function NameField({ name, editable, hasRenameRequest, onAsked, onRename }: NameProps) {
  const [text, setText] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isLeft = useRef(false);
  const open = editable && (text !== null || hasRenameRequest);
  const close = (next: string | null, byKey: boolean) => {
    if (isLeft.current) return;
    isLeft.current = true;
    const renamed = next?.trim() ?? '';
    if (renamed !== '' && renamed !== name) onRename(renamed);
    setText(null);
    onAsked();
    if (byKey) requestAnimationFrame(() => button.current?.focus());
  };
  if (!open)
    return (
      <h1 className="min-w-0 text-base font-semibold tracking-tight">
        {editable ? (
          <button
            ref={button}
            type="button"
            title="Rename"
            onClick={() => {
              isLeft.current = false;
              setText(name);
            }}
            className="block max-w-full cursor-text truncate rounded-md px-1.5 py-0.5 hover:bg-hover focus-visible:-outline-offset-2"
          >
            {name}
          </button>
        ) : (
          <span className="block truncate px-1.5">{name}</span>
        )}
      </h1>
    );
  return (
    <h1 className="min-w-0">
      <input
        // biome-ignore lint/a11y/noAutofocus: the user asked for this field just now
        autoFocus
        aria-label="Name of the workflow"
        value={text ?? name}
        maxLength={MAX_LENGTH}
        onFocus={event => {
          isLeft.current = false;
          event.target.select();
        }}
        onChange={event => setText(event.target.value)}
        onBlur={event => close(event.target.value, false)}
        onKeyDown={event => {
          if (event.key === 'Enter') close(event.currentTarget.value, true);
          if (event.key === 'Escape') close(null, true);
        }}
        className={cx(
          'h-7 w-64 max-w-full rounded-md border border-line-strong bg-surface px-1.5',
          'text-base font-semibold tracking-tight outline-none focus:border-accent',
        )}
      />
    </h1>
  );
}
