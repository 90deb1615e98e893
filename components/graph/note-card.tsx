import type { ReactNode } from 'react';
import { cx } from '../ui/classes.ts';
import { LazyMarkdown } from '../ui/lazy-markdown.tsx';
import type { NoteColor, Size } from './notes.ts';

const looks: Readonly<Record<NoteColor, string>> = {
  yellow: 'bg-warn-soft border-warn/40',
  blue: 'bg-info-soft border-info/40',
  green: 'bg-ok-soft border-ok/40',
  red: 'bg-bad-soft border-bad/40',
  gray: 'bg-surface border-line-strong/60',
};

type Props = {
  note: string;
  text: string;
  color: NoteColor;
  size: Partial<Size>;
  selected?: boolean;
  children?: ReactNode;
};

/** The face of a note in a graph: Markdown for people. */
export function NoteCard({ note, text, color, size, selected = false, children }: Props) {
  return (
    <div
      style={size}
      data-note={note}
      className={cx('overflow-hidden rounded-md border p-3 text-text', looks[color], selected && 'ring-2 ring-accent')}
    >
      {text.trim() === '' ? <p className="text-sm text-muted">Empty note</p> : <LazyMarkdown text={text} />}
      {children}
    </div>
  );
}

/** How screen readers name a note. */
export const noteLabel = (text: string): string => `Note: ${text.trim() === '' ? 'empty' : text.slice(0, 80)}`;
