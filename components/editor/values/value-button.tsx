'use client';
import { Braces } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { loadingBeforeClick } from '../../ui/use-opened.ts';
import type { CodeLanguage } from '../code/languages.ts';
import { useValues } from '../code/use-completion.tsx';
import type { ValuePath } from './value-path.ts';

const loadPicker = () => import('./value-picker.tsx');
const ValuePicker = dynamic(() => loadPicker().then(module => module.ValuePicker), { ssr: false });

type Props = {
  /** The name of the field for screen readers. */
  label: string;
  /** The id of the step that contains the field; '' for the workflow. */
  step: string;
  language: CodeLanguage;
  readOnly: boolean;
  /** Inserts a value at the cursor, and returns the focus to the field. */
  onPick: (path: ValuePath) => void;
  /** Returns the focus to the field. */
  onCancel: () => void;
};

/**
 * Returns a button that opens the tree of values for a field (null if the field is read-only or outside of the editor),
 * and the props of the element around the field. The tree opens next to that element, also with a shortcut.
 */
export function useValuePicker({ label, step, language, readOnly, onPick, onCancel }: Props) {
  const anchor = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const load = useValues(step);
  if (load === null || readOnly) return { button: null, around: {} };
  const button: ReactNode = (
    <>
      <IconButton
        label={`Insert a value into ${label}`}
        shortcut="⌘ I"
        size="sm"
        aria-haspopup="dialog"
        aria-expanded={open}
        {...loadingBeforeClick(loadPicker)}
        onClick={() => setOpen(true)}
      >
        <Braces aria-hidden className="size-3.5" />
      </IconButton>
      {open ? (
        <ValuePicker
          anchor={anchor}
          language={language}
          load={load}
          onPick={path => {
            setOpen(false);
            onPick(path);
          }}
          onClose={byKey => {
            setOpen(false);
            if (byKey) onCancel();
          }}
        />
      ) : null}
    </>
  );
  // Captures the key before the code editor, which uses it to select text.
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'i' || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(true);
  };
  return { button, around: { ref: anchor, onKeyDownCapture } };
}
