'use client';
import { Columns3 } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useCreditsShown, useSession } from '../../session/session.tsx';
import type { Outputs } from '../../trpc/provider.tsx';
import { readText, store } from '../../ui/browser-storage.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuChoice, MenuLabel } from '../../ui/menu.tsx';
import { chosenOf, readHidden, type Shown, toggled } from './column-choice.ts';

type Run = Outputs['runs_list_tenant']['runs'][number];

const STANDARD = ['Status', 'Progress', 'Trigger', 'Started', 'Duration', 'Credits', 'Run'];
/** The columns with numbers. */
export const NUMBERS: readonly string[] = ['Duration', 'Credits'];

export type Columns = {
  shown: readonly string[];
  all: readonly string[];
  toggle: (column: string) => void;
  show: (columns: readonly string[]) => void;
};

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/**
 * Returns the columns of a list of runs: the standard columns, and the searchable fields of the listed runs. The browser remembers for
 * each person which columns are shown.
 */
export function useColumns(runs: readonly Run[] | undefined): Columns {
  const { me } = useSession();
  const showsCredits = useCreditsShown();
  const key = `baton.run-columns.${me.user.id}`;
  const stored = useSyncExternalStore(
    subscribe,
    () => readText(key),
    () => '',
  );
  const choice = readHidden(stored);
  const fields = new Set([...choice.added, ...(runs ?? []).flatMap(run => Object.keys(run.search_values))]);
  const standard = STANDARD.filter(column => showsCredits || column !== 'Credits');
  const all = [...standard, ...[...fields].filter(field => !STANDARD.includes(field)).sort()];
  const isShown = (column: string) =>
    STANDARD.includes(column) ? !choice.hidden.includes(column) : choice.added.includes(column);
  return {
    all,
    shown: all.filter(isShown),
    toggle: column => save(key, toggled(choice, column, STANDARD.includes(column))),
    show: columns => save(key, chosenOf(columns, STANDARD)),
  };
}

function save(key: string, choice: Shown): void {
  store(key, choice);
  for (const listener of listeners) listener();
}

/** Lets people choose the columns of the list. */
export function ColumnMenu({ columns: { all, shown, toggle } }: { columns: Columns }) {
  return (
    <Menu
      trigger={
        <Button size="sm" variant="ghost" icon={<Columns3 aria-hidden className="size-3.5" />}>
          Columns
        </Button>
      }
    >
      <MenuLabel>Columns</MenuLabel>
      {all.map(column => (
        <MenuChoice key={column} checked={shown.includes(column)} onSelect={() => toggle(column)}>
          {column}
        </MenuChoice>
      ))}
    </Menu>
  );
}
