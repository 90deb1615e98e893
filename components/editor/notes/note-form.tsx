'use client';
import { StickyNote, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Note } from '../../../server/domains/workflows/edits/index.ts';
import { type DrawnNote, MAX_NOTE, MIN_NOTE, NOTE_COLORS, noteNodeId, type Size } from '../../graph/notes.ts';
import { IconButton } from '../../ui/button.tsx';
import { Field, Input, Textarea } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { change } from '../change.ts';
import type { StepsStore } from '../loop-store.ts';
import type { Editor } from '../use-editor.ts';
import { MAX_NOTE_CHARACTERS, planNoteChange } from './note-actions.ts';

type Props = { note: DrawnNote; store: StepsStore; editor: Editor; editable: boolean };

const colorLabels = { yellow: 'Yellow', blue: 'Blue', green: 'Green', red: 'Red', gray: 'Gray' } as const;
const colorOptions = NOTE_COLORS.map(value => ({ value, label: colorLabels[value] }));

/** The form of the selected note. */
export function NoteForm({ note, store, editor, editable }: Props) {
  const text = useRef<HTMLTextAreaElement>(null);
  const { focus, onFocused } = editor;
  const needsFocus = focus?.keyboard === 'form' && focus.step === noteNodeId(note.id);
  useEffect(() => {
    if (!needsFocus) return;
    text.current?.focus();
    onFocused();
  }, [needsFocus, onFocused]);
  const patch = (fields: Partial<Omit<Note, 'id'>>, key: string) =>
    void change(store, planNoteChange(store.state.draft, note.id, fields), `${note.id}.${key}`);
  return (
    <div className="flex flex-col gap-4 p-4">
      <div className="flex items-center gap-2">
        <StickyNote aria-hidden className="size-4 shrink-0 text-muted" />
        <h2 className="min-w-0 flex-1 truncate text-base font-semibold">Note</h2>
        {editable ? (
          <IconButton label="Delete" shortcut="⌫" size="sm" onClick={editor.removeSelected}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        ) : null}
      </div>
      <Field label="Text" hint="Markdown. Runs ignore notes.">
        <Textarea
          ref={text}
          rows={8}
          value={note.text}
          maxLength={MAX_NOTE_CHARACTERS}
          readOnly={!editable}
          onChange={event => patch({ text: event.target.value }, 'text')}
        />
      </Field>
      <Field label="Color">
        <Select
          value={note.color}
          options={colorOptions}
          disabled={!editable}
          onChange={color => patch({ color }, 'color')}
        />
      </Field>
      <div className="grid grid-cols-2 gap-3">
        {(['width', 'height'] as const).map(side => (
          <SideField
            key={`${side} ${note[side]}`}
            side={side}
            value={note[side]}
            readOnly={!editable}
            onChange={length => patch({ [side]: length }, side)}
          />
        ))}
      </div>
      {editable ? <p className="text-xs text-muted">Alt and the arrow keys move the note on the canvas.</p> : null}
    </div>
  );
}

type SideProps = { side: keyof Size; value: number; readOnly: boolean; onChange: (length: number) => void };

/** A field for width or height. The value is applied on blur, because a partly typed number is another value. */
function SideField({ side, value, readOnly, onChange }: SideProps) {
  const [typed, setTyped] = useState(String(value));
  const commitLength = () => {
    const length = Math.round(Number(typed));
    const fits = length >= MIN_NOTE[side] && length <= MAX_NOTE[side];
    if (fits && length !== value) onChange(length);
    else setTyped(String(value));
  };
  return (
    <Field label={side === 'width' ? 'Width' : 'Height'} hint={`${MIN_NOTE[side]} to ${MAX_NOTE[side]}`}>
      <Input
        inputMode="numeric"
        value={typed}
        readOnly={readOnly}
        onChange={event => setTyped(event.target.value)}
        onBlur={commitLength}
        onKeyDown={event => event.key === 'Enter' && commitLength()}
      />
    </Field>
  );
}
