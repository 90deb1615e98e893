'use client';
import { ArrowDown, ArrowUp, Braces, ChevronRight, Copy, GripVertical, Trash2 } from 'lucide-react';
import { type DragEvent, type KeyboardEvent, useState } from 'react';
import { labelOf } from '../../forms/form-schema.ts';
import { IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/classes.ts';
import { CustomField } from './custom-field.tsx';
import { FieldEditor } from './field-editor.tsx';
import { lookOf } from './field-kinds.ts';
import { schemaOf, viewOf } from './field-view.ts';
import type { BuilderField } from './form-model.ts';

export type RowProps = {
  field: BuilderField;
  index: number;
  count: number;
  /** The names of the other fields. */
  taken: readonly string[];
  open: boolean;
  readOnly: boolean;
  /** The drop position of a dragged field, relative to this field. */
  drop: 'above' | 'below' | null;
  onToggle: () => void;
  onChange: (change: Partial<BuilderField>) => void;
  onMove: (to: number) => void;
  onDuplicate: () => void;
  onRemove: () => void;
  onDragStart: (event: DragEvent) => void;
  onDragEnd: () => void;
};

/** Returns the title of a field in the builder. */
export function titleOf({ name, schema }: BuilderField): string {
  return viewOf(schema)?.label || labelOf(name) || name;
}

/** A row of the form: it expands to the settings of its field. */
export function FieldRow(props: RowProps) {
  const { field, index, open, readOnly, drop, onToggle, onMove } = props;
  const view = viewOf(field.schema);
  const { label, icon: Icon } = view === null ? { label: 'Custom (JSON)', icon: Braces } : lookOf(view.kind);
  const title = titleOf(field);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || readOnly || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    event.stopPropagation();
    onMove(event.key === 'ArrowUp' ? index - 1 : index + 1);
  };
  return (
    <div
      className={cx(
        'relative rounded-md border bg-surface',
        drop === 'above' &&
          'before:absolute before:inset-x-0 before:-top-1 before:h-0.5 before:rounded-full before:bg-accent',
        drop === 'below' &&
          'after:absolute after:inset-x-0 after:-bottom-1 after:h-0.5 after:rounded-full after:bg-accent',
      )}
    >
      <div className="flex items-center">
        {readOnly ? null : (
          // Keyboard users move the field with Alt and an arrow key, or with buttons.
          <span
            aria-hidden
            draggable
            onDragStart={props.onDragStart}
            onDragEnd={props.onDragEnd}
            className="flex h-9 w-6 shrink-0 cursor-grab items-center justify-center text-faint hover:text-text active:cursor-grabbing"
          >
            <GripVertical className="size-3.5" />
          </span>
        )}
        <button
          type="button"
          data-field-row={field.name}
          aria-expanded={open}
          aria-keyshortcuts={readOnly ? undefined : 'Alt+ArrowUp Alt+ArrowDown'}
          onClick={onToggle}
          onKeyDown={onKeyDown}
          className={cx(
            'flex h-9 min-w-0 flex-1 items-center gap-2 rounded-md pr-2 text-left hover:bg-hover',
            readOnly && 'pl-2',
          )}
        >
          <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
          <span className="min-w-0 truncate text-sm font-medium">{title}</span>
          {field.required ? (
            <span className="-ml-1 text-bad" title="Required">
              <span aria-hidden>*</span>
              <span className="sr-only">required</span>
            </span>
          ) : null}
          <span className="ml-auto shrink-0 text-xs text-muted">{label}</span>
          <ChevronRight aria-hidden className={cx('size-3.5 shrink-0 text-faint', open && 'rotate-90')} />
        </button>
      </div>
      {open ? <Body {...props} title={title} /> : null}
    </div>
  );
}

function Body({ title, ...props }: RowProps & { title: string }) {
  const { field, readOnly, index, count, taken, onChange, onMove, onDuplicate, onRemove } = props;
  const view = viewOf(field.schema);
  // Fixed while the row is open: JSON that is partly typed must not switch to other controls.
  const [isCustom] = useState(view === null);
  const about = {
    name: field.name,
    required: field.required,
    taken,
    onRename: (name: string) => onChange({ name }),
    onRequired: (required: boolean) => onChange({ required }),
  };
  return (
    <div className="flex flex-col gap-3 border-t p-3">
      <fieldset disabled={readOnly} aria-label={`Settings of ${title}`} className="contents">
        {isCustom || view === null ? (
          <CustomField {...about} schema={field.schema} onChange={schema => onChange({ schema })} />
        ) : (
          <FieldEditor {...about} view={view} onChange={next => onChange({ schema: schemaOf(next) })} />
        )}
      </fieldset>
      {readOnly ? null : (
        <div role="toolbar" aria-label={`Edit ${title}`} className="-mx-1 -mb-1 flex gap-0.5">
          <IconButton label="Move up" size="sm" shortcut="⌥ ↑" disabled={index === 0} onClick={() => onMove(index - 1)}>
            <ArrowUp aria-hidden className="size-3.5" />
          </IconButton>
          <IconButton
            label="Move down"
            size="sm"
            shortcut="⌥ ↓"
            disabled={index === count - 1}
            onClick={() => onMove(index + 1)}
          >
            <ArrowDown aria-hidden className="size-3.5" />
          </IconButton>
          <IconButton label="Duplicate field" size="sm" onClick={onDuplicate}>
            <Copy aria-hidden className="size-3.5" />
          </IconButton>
          <IconButton label="Remove field" size="sm" className="ml-auto hover:text-bad" onClick={onRemove}>
            <Trash2 aria-hidden className="size-3.5" />
          </IconButton>
        </div>
      )}
    </div>
  );
}
