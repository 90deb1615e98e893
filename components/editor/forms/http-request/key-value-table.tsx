'use client';
import { X } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { IconButton } from '../../../ui/button.tsx';
import { Input } from '../../../ui/field.tsx';
import type { CompletionSource } from '../../code/completion.ts';
import { ValueLine } from '../value-line.tsx';
import { cellText, mapOf, newRow, type Row, rowsOf, sameMap } from './key-values.ts';

type Props = {
  /** The id of the step whose values can be inserted. */
  step: string;
  /** The noun for one line: “Parameter”, “Header”. */
  noun: string;
  /** The map of the field. */
  value: unknown;
  onChange: (value: Json | undefined) => void;
  readOnly: boolean;
  completion: CompletionSource | undefined;
  /** Whether several lines may have the same name. */
  repeats: boolean;
  placeholder: string;
};

/** A table of names and values. Typing into the empty last line adds a new line. */
export function KeyValueTable({ step, noun, value, onChange, readOnly, completion, repeats, placeholder }: Props) {
  const current = rowsOf(value) ?? [];
  const [rows, setRows] = useState<Row[]>(() => [...current, newRow()]);
  // The value was changed by Undo, a paste, or elsewhere.
  if (!sameMap(rows, current)) setRows([...current, newRow()]);
  const changeRows = (next: Row[]) => {
    const last = next.at(-1);
    const withEmptyLine = last === undefined || last.name !== '' || last.value !== '' ? [...next, newRow()] : next;
    setRows(withEmptyLine);
    onChange(mapOf(withEmptyLine));
  };
  const list = useRef<HTMLUListElement>(null);
  const remove = (key: number, index: number) => {
    changeRows(rows.filter(each => each.key !== key));
    // The focused button is gone, so the next line takes the focus.
    requestAnimationFrame(() => list.current?.querySelectorAll('input')[index]?.focus());
  };
  const change = (key: number, patch: Partial<Row>) =>
    changeRows(rows.map(row => (row.key === key ? { ...row, ...patch } : row)));
  const shown = readOnly ? rows.slice(0, -1) : rows;
  const names = rows.map(({ name }) => name).filter(name => name !== '');
  const duplicate = repeats ? undefined : names.find((name, index) => names.indexOf(name) !== index);
  return (
    <div className="flex flex-col gap-1.5">
      {shown.length === 0 ? <p className="text-xs text-muted">None</p> : null}
      <ul ref={list} aria-label={`${noun}s`} className="flex flex-col gap-1.5">
        {shown.map((row, index) => (
          <li key={row.key} className="flex items-start gap-1.5">
            <Input
              aria-label={`${noun} ${index + 1}: name`}
              value={row.name}
              placeholder={index === shown.length - 1 ? placeholder : 'Name'}
              readOnly={readOnly}
              spellCheck={false}
              autoComplete="off"
              className="w-2/5 min-w-0"
              onChange={event => change(row.key, { name: event.target.value })}
            />
            <ValueLine
              step={step}
              label={`${noun} ${index + 1}: value`}
              value={cellText(row.value)}
              placeholder="Value"
              readOnly={readOnly}
              completion={completion}
              onChange={text => change(row.key, { value: text })}
            />
            {readOnly ? null : (
              <IconButton
                label={row.name === '' ? `Remove line ${index + 1}` : `Remove ${row.name}`}
                tooltip={false}
                className={index === shown.length - 1 ? 'invisible' : ''}
                onClick={() => remove(row.key, index)}
              >
                <X aria-hidden className="size-3.5" />
              </IconButton>
            )}
          </li>
        ))}
      </ul>
      {duplicate === undefined ? null : (
        <p role="alert" className="text-xs text-bad">
          “{duplicate}” is there twice: give it one value.
        </p>
      )}
    </div>
  );
}
