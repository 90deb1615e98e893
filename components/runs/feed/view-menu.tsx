'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bookmark, PenLine, Plus, Save, Star, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { usePermissions } from '../../session/session.tsx';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../../ui/menu.tsx';
import { toast, toastError } from '../../ui/toaster.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import type { Columns } from './columns.tsx';
import { runListInput } from './read-run-filters.ts';
import { ViewDialog } from './view-dialog.tsx';
import { isShown, namesFilters, urlOfView } from './view-filters.ts';

export type View = Outputs['run_views_list']['views'][number];

const icon = 'size-3.5';

/** The menu of saved views (filters and columns): the person's own and the project's. */
export function ViewMenu({ columns }: { columns: Columns }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const { canWrite } = usePermissions();
  const views = useQuery(trpc.run_views_list.queryOptions({})).data?.views ?? [];
  const open = useOpenView(columns);
  useDefault(views, open);
  const { patch, remove } = useChanges();
  const [edited, setEdited] = useState<View | 'new' | null>(null);
  const current = views.find(({ id }) => id === get('view'));
  const mayChange = current !== undefined && (current.shared ? canWrite : current.own);
  const { limit: _, cursor: __, ...filters } = runListInput(get);
  return (
    <>
      <Menu
        trigger={
          <Button size="sm" variant="ghost" icon={<Bookmark aria-hidden className={icon} />}>
            {current === undefined ? 'Views' : current.name}
          </Button>
        }
      >
        <MenuLabel>{views.length === 0 ? 'No saved views yet' : 'Views'}</MenuLabel>
        {views.map(view => (
          <MenuChoice
            key={view.id}
            checked={view.id === current?.id && isShown(get, urlOfView(view.filters))}
            onSelect={() => open(view)}
          >
            {`${view.name}${view.shared ? ' (shared)' : ''}${view.default ? ' · default' : ''}`}
          </MenuChoice>
        ))}
        <MenuSeparator />
        <MenuItem icon={<Plus aria-hidden className={icon} />} onSelect={() => setEdited('new')}>
          Save as a view
        </MenuItem>
        {current === undefined ? null : (
          <MenuItem
            icon={<Star aria-hidden className={icon} />}
            onSelect={() => patch.mutate({ view_id: current.id, default: !current.default })}
          >
            {current.default ? 'Do not open Runs with it' : 'Open Runs with it'}
          </MenuItem>
        )}
        {mayChange ? (
          <>
            <MenuItem
              icon={<Save aria-hidden className={icon} />}
              onSelect={() => patch.mutate({ view_id: current.id, filters, columns: [...columns.shown] })}
            >
              Save filters and columns
            </MenuItem>
            <MenuItem icon={<PenLine aria-hidden className={icon} />} onSelect={() => setEdited(current)}>
              Rename or share
            </MenuItem>
            <MenuItem
              danger
              icon={<Trash2 aria-hidden className={icon} />}
              onSelect={() => remove.mutate({ view_id: current.id })}
            >
              Delete view
            </MenuItem>
          </>
        ) : null}
      </Menu>
      {edited === null ? null : (
        <ViewDialog
          view={edited === 'new' ? null : edited}
          filters={filters}
          columns={columns.shown}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
}

/** Returns a function that applies a view to the list. */
function useOpenView(columns: Columns): (view: View, how?: { push: boolean }) => void {
  const { set } = useUrlState();
  return (view, how = { push: true }) => {
    set({ ...urlOfView(view.filters), view: view.id, cursor: '' }, how);
    if (view.columns.length > 0) columns.show(view.columns);
  };
}

/** Opens the person's default view once, if the page was opened without filters. */
function useDefault(views: readonly View[], open: ReturnType<typeof useOpenView>): void {
  const { get } = useUrlState();
  const isDone = useRef(namesFilters(get));
  useEffect(() => {
    if (isDone.current || views.length === 0) return;
    isDone.current = true;
    const view = views.find(each => each.default);
    if (view !== undefined) open(view, { push: false });
  });
}

/** Returns the mutations of views. Each refreshes the list of views. */
function useChanges() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { set } = useUrlState();
  const refresh = () => queries.invalidateQueries(trpc.run_views_list.pathFilter());
  const patch = useMutation(
    trpc.run_views_patch.mutationOptions({
      onSuccess: ({ name }) => {
        toast.success(`The view ${name} is saved`);
        return refresh();
      },
      onError: toastError,
    }),
  );
  const remove = useMutation(
    trpc.run_views_delete.mutationOptions({
      onSuccess: () => {
        set({ view: '' });
        toast.success('The view is deleted');
        return refresh();
      },
      onError: toastError,
    }),
  );
  return { patch, remove };
}
