'use client';
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { UserRoundPlus, X } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useId, useState } from 'react';
import { useTRPC } from '../../../trpc/provider.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useValuePicker } from '../../values/value-button.tsx';
import { insertedText } from '../../values/value-path.ts';
import { type Candidate, candidatesOf, isAssignee, offerCandidates } from './assignees.ts';

type Props = {
  step: string;
  assignees: readonly string[];
  readOnly: boolean;
  problem: string | undefined;
  onChange: (assignees: readonly string[]) => void;
};

const PEOPLE_STALE_MS = 60_000;

/** The people who may answer: users and roles chosen from a list, typed email addresses, or a value of the run. */
export function AssigneesField({ step, assignees, readOnly, problem, onChange }: Props) {
  const trpc = useTRPC();
  const heading = useId();
  const members = useQuery(trpc.members_list.queryOptions({ limit: 100 }, { staleTime: PEOPLE_STALE_MS }));
  const candidates = candidatesOf(members.data?.members ?? []);
  const labelOf = (value: string) => candidates.find(each => each.value.toLowerCase() === value.toLowerCase())?.label;
  const add = (value: string) => onChange([...assignees, value]);
  const { button, around } = useValuePicker({
    label: 'Who answers',
    step,
    language: 'text',
    readOnly,
    onPick: path => add(insertedText(path, 'text', '')),
    onCancel: () => undefined,
  });
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-1.5">
      <div {...around} className="flex min-h-7 items-center justify-between gap-2">
        <p id={heading} className="text-sm font-medium">
          Who answers
        </p>
        {button}
      </div>
      {assignees.length === 0 ? (
        <p className="text-xs text-muted">Any contributor to the project.</p>
      ) : (
        <ul className="flex flex-wrap gap-1.5">
          {assignees.map(value => (
            <li key={value} className="flex h-7 max-w-full items-center gap-1 rounded-md border bg-sunken pl-2 text-sm">
              <span className="min-w-0 truncate" title={value}>
                {labelOf(value) ?? value}
              </span>
              {readOnly ? (
                <span className="w-1" />
              ) : (
                <IconButton
                  label={`Remove ${labelOf(value) ?? value}`}
                  size="sm"
                  tooltip={false}
                  onClick={() => onChange(assignees.filter(each => each !== value))}
                >
                  <X aria-hidden className="size-3" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {readOnly ? null : <AddPerson candidates={candidates} chosen={assignees} onAdd={add} />}
      {problem ? (
        <p role="alert" className="text-xs wrap-anywhere text-bad">
          {problem}
        </p>
      ) : null}
    </section>
  );
}

type AddProps = { candidates: readonly Candidate[]; chosen: readonly string[]; onAdd: (value: string) => void };

function AddPerson({ candidates, chosen, onAdd }: AddProps) {
  const [open, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const typed = search.trim();
  const found = offerCandidates(candidates, chosen, typed);
  const own = isAssignee(typed) && !chosen.includes(typed) && !found.some(({ value }) => value === typed);
  const choose = (value: string) => {
    onAdd(value);
    setSearch('');
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button size="sm" className="self-start" icon={<UserRoundPlus aria-hidden className="size-3.5" />}>
          Add person or role
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="People and roles"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 w-80 max-w-[calc(100vw-16px)] overflow-hidden rounded-lg border bg-surface shadow-pop"
        >
          <Command label="People and roles" shouldFilter={false} loop>
            <Command.Input
              value={search}
              onValueChange={setSearch}
              placeholder="Name, email or role…"
              className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
            />
            <Command.List className="max-h-64 overflow-y-auto p-1">
              {found.map(({ value, label, hint }) => (
                <Command.Item key={value} value={value} onSelect={() => choose(value)} className={itemClass}>
                  <span className="min-w-0 flex-1 truncate">{label}</span>
                  {hint === label ? null : <span className="min-w-0 truncate text-xs text-muted">{hint}</span>}
                </Command.Item>
              ))}
              {own ? (
                <Command.Item value={typed} onSelect={() => choose(typed)} className={itemClass}>
                  <span className="min-w-0 truncate">Add “{typed}”</span>
                </Command.Item>
              ) : null}
            </Command.List>
            {found.length === 0 && !own ? (
              <p role="status" className="px-3 py-2 text-sm text-muted">
                No one matches. Enter a whole email address to add it.
              </p>
            ) : null}
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

const itemClass = 'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm data-[selected=true]:bg-hover';
