'use client';
import { Plus } from 'lucide-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { FIRST_CONTROL } from './field-editor.tsx';
import { FIELD_KINDS, lookOf } from './field-kinds.ts';
import { FieldRow, titleOf } from './field-row.tsx';
import { type FieldKind, newField, schemaOf, viewOf } from './field-view.ts';
import {
  addField,
  type BuilderField,
  changeField,
  duplicateField,
  type FormModel,
  freeName,
  moveField,
  nameFor,
  removeField,
} from './form-model.ts';
import { useRows } from './use-rows.ts';

export type SchemaBuilderProps = {
  form: FormModel;
  onChange: (form: FormModel) => void;
  /** The name of the list for screen readers. */
  label: string;
  /** Shown while there are no fields. */
  empty: string;
  readOnly: boolean;
};

/** The target of the focus after the next render: a row, its settings, or the “add” button. */
type Focus = { name: string; to: 'row' | 'settings' } | 'add';

/** Moves the focus after a change of the list. */
function useFocus() {
  const list = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState<Focus | null>(null);
  useEffect(() => {
    if (wanted === null) return;
    setWanted(null);
    const all = list.current;
    if (wanted === 'add') all?.querySelector<HTMLElement>('[data-add-field]')?.focus();
    else {
      const row = all?.querySelector<HTMLElement>(`[data-field-row="${CSS.escape(wanted.name)}"]`);
      const first = row?.closest('li')?.querySelector<HTMLInputElement>(`[${FIRST_CONTROL}]`);
      (wanted.to === 'settings' ? (first ?? row) : row)?.focus();
      if (wanted.to === 'settings') first?.select();
    }
  }, [wanted]);
  return { list, setFocus: setWanted };
}

/** Returns the actions on the fields, each with its announcement and its focus target. */
function useFieldActions({ form, onChange }: SchemaBuilderProps) {
  const names = form.fields.map(({ name }) => name);
  const rows = useRows(names);
  const [opened, setOpened] = useState<number | null>(null);
  const [announcement, setAnnouncement] = useState('');
  // The names of newly added fields follow their labels, because nothing refers to these fields yet.
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [openNext, setOpenNext] = useState<string | null>(null);
  const { list, setFocus } = useFocus();
  if (openNext !== null) {
    const row = rows.find(({ name }) => name === openNext);
    if (row !== undefined) {
      setOpened(row.key);
      setOpenNext(null);
    }
  }
  const show = (next: FormModel, name: string) => {
    onChange(next);
    setOpenNext(name);
    setFocus({ name, to: 'settings' });
  };
  return {
    rows,
    opened,
    announcement,
    list,
    names,
    toggle: (key: number) => setOpened(opened === key ? null : key),
    add: (kind: FieldKind) => {
      const label = lookOf(kind).label;
      const name = freeName(nameFor(label), names);
      const field = { name, required: false, schema: schemaOf(newField(kind, label)) };
      setFresh(new Set([...fresh, name]));
      show(addField(form, form.fields.length, field), name);
    },
    change: (index: number, change: Partial<BuilderField>) => {
      const before = names[index] ?? '';
      const label = change.schema === undefined ? undefined : viewOf(change.schema)?.label;
      const others = names.toSpliced(index, 1);
      const name =
        label !== undefined && fresh.has(before) ? freeName(nameFor(label), others) : (change.name ?? before);
      const rest = [...fresh].filter(each => each !== before);
      // A name that the user typed stays.
      if (fresh.has(before)) setFresh(new Set(change.name === undefined ? [...rest, name] : rest));
      onChange(changeField(form, index, { ...change, name }));
    },
    move: (from: number, to: number, focus: boolean) => {
      const field = form.fields[from];
      const next = moveField(form, from, to);
      if (field === undefined || next === form) return;
      onChange(next);
      setAnnouncement(`${titleOf(field)} is now field ${to + 1} of ${form.fields.length}.`);
      if (focus) setFocus({ name: field.name, to: 'row' });
    },
    duplicate: (index: number) => {
      const next = duplicateField(form, index);
      const name = next.fields[index + 1]?.name;
      if (name === undefined) return;
      setFresh(new Set([...fresh, name]));
      show(next, name);
    },
    remove: (index: number) => {
      const field = form.fields[index];
      if (field === undefined) return;
      onChange(removeField(form, index));
      setAnnouncement(`${titleOf(field)} removed.`);
      const neighbor = names[index + 1] ?? names[index - 1];
      setFocus(neighbor === undefined ? 'add' : { name: neighbor, to: 'row' });
    },
  };
}

/** The position of a dragged field, and its drop position. */
type Dragged = { from: number; to: number };

/** An object schema as a list of fields that can be added, set, moved, copied and removed. */
export function SchemaBuilder(props: SchemaBuilderProps) {
  const { form, label, empty, readOnly } = props;
  const actions = useFieldActions(props);
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const count = form.fields.length;
  const onDragOver = (event: DragEvent<HTMLElement>, index: number) => {
    if (dragged === null) return;
    event.preventDefault();
    const { top, height } = event.currentTarget.getBoundingClientRect();
    const gap = event.clientY < top + height / 2 ? index : index + 1;
    // Removing the dragged field shifts all later positions by one.
    const to = gap > dragged.from ? gap - 1 : gap;
    if (to !== dragged.to) setDragged({ ...dragged, to });
  };
  const dropAt = (index: number) => {
    if (dragged === null || dragged.to === dragged.from || index !== dragged.to) return null;
    return dragged.to < dragged.from ? 'above' : 'below';
  };
  return (
    <div ref={actions.list} className="flex flex-col gap-2">
      {count === 0 ? (
        <p className="rounded-md border border-dashed px-3 py-3 text-center text-xs text-muted">{empty}</p>
      ) : (
        <ul aria-label={label} className="flex flex-col gap-1.5">
          {form.fields.map((field, index) => (
            <li
              key={actions.rows[index]?.key}
              onDragOver={event => onDragOver(event, index)}
              onDrop={event => {
                if (dragged === null) return;
                event.preventDefault();
                actions.move(dragged.from, dragged.to, false);
                setDragged(null);
              }}
            >
              <FieldRow
                field={field}
                index={index}
                count={count}
                taken={actions.names.toSpliced(index, 1)}
                open={actions.rows[index]?.key === actions.opened}
                readOnly={readOnly}
                drop={dropAt(index)}
                onToggle={() => actions.toggle(actions.rows[index]?.key ?? 0)}
                onChange={change => actions.change(index, change)}
                onMove={to => actions.move(index, to, true)}
                onDuplicate={() => actions.duplicate(index)}
                onRemove={() => actions.remove(index)}
                onDragStart={event => {
                  event.dataTransfer.effectAllowed = 'move';
                  event.dataTransfer.setData('application/x-baton-field', field.name);
                  setDragged({ from: index, to: index });
                }}
                onDragEnd={() => setDragged(null)}
              />
            </li>
          ))}
        </ul>
      )}
      {readOnly ? null : <AddField onAdd={actions.add} />}
      <p role="status" className="sr-only">
        {actions.announcement}
      </p>
    </div>
  );
}

function AddField({ onAdd }: { onAdd: (kind: FieldKind) => void }) {
  return (
    <Menu
      align="start"
      trigger={
        <Button size="sm" data-add-field className="self-start" icon={<Plus aria-hidden className="size-3.5" />}>
          Add field
        </Button>
      }
    >
      {FIELD_KINDS.map(kind => {
        const { label, icon: Icon } = lookOf(kind);
        return (
          <MenuItem key={kind} icon={<Icon aria-hidden className="size-3.5" />} onSelect={() => onAdd(kind)}>
            {label}
          </MenuItem>
        );
      })}
    </Menu>
  );
}
