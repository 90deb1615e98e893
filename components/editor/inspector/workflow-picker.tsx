'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { Check, ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';
import { Badge } from '../../ui/badge.tsx';
import { cx } from '../../ui/classes.ts';
import { readError } from '../../ui/errors.ts';
import { controlClass, Field, Input, useFieldProps } from '../../ui/field.tsx';
import { Link } from '../../ui/link.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import type { SchemaFieldProps } from './code-field.tsx';
import { explained } from './field-help.tsx';

/** The maximum number of listed workflows. The search finds the others. */
const MAX_OFFERED = 50;

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Returns the workflow that a field names; `missing` if the project has no workflow with that id. */
export function useNamedWorkflow(value: unknown) {
  const trpc = useTRPC();
  const id = typeof value === 'string' && isId(value) ? value.toLowerCase() : null;
  const { data, error } = useQuery(trpc.workflows_get.queryOptions({ id: id ?? '' }, { enabled: id !== null }));
  const workflow = id === null ? undefined : data;
  return { id, workflow, missing: id !== null && error !== null && readError(error).status === 404 };
}

/** Chooses a published workflow of the project. With `templates`, also accepts a template. */
export function WorkflowField(props: SchemaFieldProps & { templates: boolean }) {
  const { field, value, onChange, problem, readOnly, templates } = props;
  const present = typeof value === 'string' ? value : '';
  const [asText, setAsText] = useState(present.includes('{{'));
  const { id, workflow, missing } = useNamedWorkflow(value);
  const named = present.includes('{{') || (asText && !isId(present));
  const choose = (next: string | undefined) => {
    setAsText(false);
    onChange(next);
  };
  const nameByTemplate = () => {
    setAsText(true);
    if (isId(present)) onChange('');
  };
  const others = [
    ...(field.required ? [] : [{ label: 'None', onSelect: () => choose(undefined) }]),
    ...(templates ? [{ label: 'Choose with a template', onSelect: nameByTemplate }] : []),
  ];
  const unknown = missing ? 'This project has no workflow with this ID.' : undefined;
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={field.label}
        {...explained(field.hint, field.label)}
        error={named ? undefined : (problem ?? unknown)}
        required={field.required}
      >
        <Picker
          shown={named ? 'Chosen with a template' : (workflow?.name ?? present)}
          chosen={named ? null : id}
          except={props.workflowId}
          others={others}
          readOnly={readOnly}
          onChoose={choose}
        />
      </Field>
      {workflow && !named ? (
        <p className="flex flex-wrap items-center gap-2 text-xs">
          <Link href={`/workflows/${workflow.id}`} className="min-w-0 truncate text-accent-text underline">
            Open {workflow.name}
          </Link>
          {workflow.status === 'archived' ? <Badge tone="warn">Archived</Badge> : null}
        </p>
      ) : null}
      {named ? (
        <Field label={`${field.label} as a template`} error={problem}>
          <Input
            value={present}
            readOnly={readOnly}
            placeholder="{{input.workflow_id}}"
            className="font-mono"
            onChange={event => onChange(event.target.value)}
          />
        </Field>
      ) : null}
    </div>
  );
}

type PickerProps = {
  /** The text of the closed control; empty if nothing is chosen. */
  shown: string;
  /** The id of the chosen workflow. */
  chosen: string | null;
  /** The edited workflow, which cannot start itself. */
  except: string;
  /** The choices besides workflows. */
  others: readonly { label: string; onSelect: () => void }[];
  readOnly: boolean;
  onChoose: (id: string) => void;
};

function Picker({ shown, readOnly, ...list }: PickerProps) {
  const field = useFieldProps();
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger
        {...field}
        role="combobox"
        disabled={readOnly}
        className={cx(controlClass, 'flex h-8 items-center justify-between gap-2 text-left')}
      >
        <span className={cx('truncate', shown === '' && 'text-faint')}>
          {shown === '' ? 'Choose a workflow' : shown}
        </span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Workflows"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 w-(--radix-popover-trigger-width) min-w-64 overflow-hidden rounded-lg border bg-surface shadow-pop"
        >
          <Workflows {...list} onDone={() => setOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Workflows({
  chosen,
  except,
  others,
  onChoose,
  onDone,
}: Omit<PickerProps, 'shown' | 'readOnly'> & { onDone: () => void }) {
  const trpc = useTRPC();
  const [search, setSearch] = useState('');
  const q = useDebounced(search).trim();
  const list = useQuery(
    trpc.workflows_list.queryOptions(
      { status: 'published', limit: MAX_OFFERED, graphs: false, ...(q && { q }) },
      { placeholderData: keepPreviousData },
    ),
  );
  const offered = list.data?.workflows.filter(({ id }) => id !== except);
  // The highlighted entry and the list that contained it: a new list starts at its first entry.
  const [moved, setMoved] = useState<{ list: unknown; value: string } | null>(null);
  const first = offered?.[0]?.id ?? others[0]?.label ?? '';
  const closeAfter = (choose: () => void) => () => {
    choose();
    onDone();
  };
  return (
    <Command
      label="Workflows"
      shouldFilter={false}
      loop
      value={moved !== null && moved.list === list.data ? moved.value : first}
      onValueChange={value => setMoved({ list: list.data, value })}
    >
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Search by name or ID…"
        className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
      />
      {offered?.length === 0 ? (
        <p role="status" className="px-3 py-2 text-sm text-muted">
          {nothingFor(q)}
        </p>
      ) : null}
      {list.error ? (
        <p role="alert" className="px-3 py-2 text-sm text-bad">
          {readError(list.error).message}
        </p>
      ) : null}
      <Command.List className="max-h-64 overflow-y-auto p-1">
        {offered?.map(({ id, name, latest_version }) => (
          <Command.Item key={id} value={id} onSelect={closeAfter(() => onChoose(id))} className={itemClass}>
            <Check aria-hidden className={cx('size-3.5 shrink-0', id !== chosen && 'invisible')} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="text-xs text-muted tabular-nums">v{latest_version}</span>
          </Command.Item>
        ))}
        {(list.isPending ? [] : others).map(({ label, onSelect }) => (
          <Command.Item
            key={label}
            value={label}
            onSelect={closeAfter(onSelect)}
            className={cx(itemClass, 'pl-8 text-muted')}
          >
            {label}
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}

const itemClass = 'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm data-[selected=true]:bg-hover';

const nothingFor = (search: string) =>
  search === '' ? 'This project has no other published workflow.' : 'No published workflow has this name or ID.';
