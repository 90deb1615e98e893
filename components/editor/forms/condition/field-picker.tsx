'use client';
import { Command } from 'cmdk';
import { ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import { cx } from '../../../ui/classes.ts';
import { controlClass } from '../../../ui/field.tsx';
import type { FieldChoice } from './field-types.ts';
import type { RuleContext } from './group-editor.tsx';
import { printPath, segmentsOfPath } from './rules.ts';

type Props = {
  label: string;
  /** The path of the chosen field; empty if no field is chosen. */
  value: string;
  onChange: (path: string) => void;
  context: RuleContext;
  autoFocus?: boolean;
};

/** Chooses a field of the input or of an earlier result by name. Any other field is typed as a path. */
export function FieldPicker({ label, value, onChange, context, autoFocus = false }: Props) {
  const { choices, refresh, readOnly } = context;
  const [open, setOpen] = useState(false);
  const chosen = choices.find(({ path }) => path === value);
  return (
    <Popover.Root
      open={open}
      onOpenChange={next => {
        if (next) refresh();
        setOpen(next);
      }}
    >
      <Popover.Trigger
        role="combobox"
        aria-label={label}
        disabled={readOnly}
        autoFocus={autoFocus}
        className={cx(controlClass, 'flex h-8 w-full min-w-0 items-center justify-between gap-2 text-left')}
      >
        {value === '' ? (
          <span className="truncate text-faint">Choose a field</span>
        ) : chosen === undefined ? (
          <span className="truncate font-mono text-xs">{value}</span>
        ) : (
          <span className="truncate">
            <span className="text-muted">{chosen.group} › </span>
            {chosen.label}
          </span>
        )}
        <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Fields"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 w-(--radix-popover-trigger-width) min-w-72 overflow-hidden rounded-lg border bg-surface shadow-pop"
        >
          <Fields
            choices={choices}
            onChoose={path => {
              onChange(path);
              setOpen(false);
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** The maximum number of shown fields; the search finds the others. */
const MAX_SHOWN = 60;

function Fields({ choices, onChoose }: { choices: readonly FieldChoice[]; onChoose: (path: string) => void }) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = choices.filter(({ group, label, path }) => {
    const text = `${group} ${label} ${path}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  const segments = segmentsOfPath(search);
  const typed = segments === null ? null : printPath(segments);
  const groups = Map.groupBy(found.slice(0, MAX_SHOWN), ({ group }) => group);
  return (
    <Command label="Fields" shouldFilter={false} loop>
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Search, or type input.…"
        className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
      />
      <Command.List className="max-h-64 overflow-y-auto p-1">
        {found.length === 0 && typed === null ? (
          <p role="status" className="px-2 py-1.5 text-sm text-muted">
            {choices.length === 0
              ? 'No field is known yet. Type its path, such as input.total.'
              : 'No field has this name. Type its path, such as input.total.'}
          </p>
        ) : null}
        {[...groups].map(([group, fields]) => (
          <Command.Group key={group} heading={group} className={groupClass}>
            {fields.map(({ path, label, type }) => (
              <Command.Item key={path} value={path} onSelect={() => onChoose(path)} className={itemClass}>
                <span className="min-w-0 flex-1 truncate">{label}</span>
                <span className="text-xs text-muted">{TYPE_LABELS[type]}</span>
              </Command.Item>
            ))}
          </Command.Group>
        ))}
        {typed !== null && !found.some(({ path }) => path === typed) ? (
          <Command.Item value={typed} onSelect={() => onChoose(typed)} className={itemClass}>
            <span className="truncate">
              Use <span className="font-mono text-xs">{typed}</span>
            </span>
          </Command.Item>
        ) : null}
      </Command.List>
    </Command>
  );
}

const TYPE_LABELS: Readonly<Record<FieldChoice['type'], string>> = {
  text: 'text',
  number: 'number',
  truth: 'yes or no',
  list: 'list',
  object: 'object',
  unknown: '',
};
const groupClass =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted';
const itemClass = 'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm data-[selected=true]:bg-hover';
