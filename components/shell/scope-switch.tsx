'use client';
import { ChevronsUpDown, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { Fragment, useState } from 'react';
import { useSession } from '../session/session.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { useLoadedEarly, useOpened } from '../ui/use-opened.ts';

const loadCreate = () => import('../workspaces/create-workspace-dialog.tsx');
const CreateWorkspaceDialog = dynamic(() => loadCreate().then(module => module.CreateWorkspaceDialog), { ssr: false });

/** Shows the current workspace and project, switches to others, and creates workspaces. */
export function ScopeSwitch({ collapsed = false }: { collapsed?: boolean }) {
  const { me, switchTo } = useSession();
  const [creating, setCreating] = useState(false);
  useLoadedEarly(loadCreate);
  const hasCreate = useOpened(creating);
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`Workspace ${me.tenant.name}, project ${me.project.name}. Switch`}
            className="flex shrink-0 items-center gap-2 h-10 rounded-md px-0.5 text-left hover:bg-hover focus-visible:-outline-offset-2"
          >
            <span
              aria-hidden
              className="flex size-7 shrink-0 items-center justify-center rounded-md bg-accent text-sm font-semibold text-on-accent uppercase"
            >
              {me.tenant.name.slice(0, 1)}
            </span>
            {collapsed ? null : (
              <>
                <span className="min-w-0 flex-1">
                  <span className="block truncate text-sm leading-4 font-medium">{me.tenant.name}</span>
                  <span className="block truncate text-xs text-muted">{me.project.name}</span>
                </span>
                <ChevronsUpDown aria-hidden className="mr-1 size-3.5 shrink-0 text-faint" />
              </>
            )}
          </button>
        }
      >
        {me.tenants.map((tenant, index) => (
          <Fragment key={tenant.id}>
            {index > 0 ? <MenuSeparator /> : null}
            <MenuLabel>
              {tenant.name}
              {tenant.name === tenant.id ? null : <span className="ml-1.5 font-mono">{tenant.id}</span>}
            </MenuLabel>
            {tenant.projects.length === 0 ? <MenuItem disabled>No role on a project</MenuItem> : null}
            {tenant.projects.map(project => (
              <MenuChoice
                key={project.id}
                checked={tenant.id === me.tenant.id && project.id === me.project.id}
                onSelect={() => switchTo({ tenant: tenant.id, project: project.id })}
              >
                {project.name}
              </MenuChoice>
            ))}
          </Fragment>
        ))}
        {me.can_create_workspaces ? (
          <>
            <MenuSeparator />
            <MenuItem icon={<Plus aria-hidden className="size-3.5" />} onSelect={() => setCreating(true)}>
              Create workspace
            </MenuItem>
          </>
        ) : null}
      </Menu>
      {hasCreate ? <CreateWorkspaceDialog open={creating} onClose={() => setCreating(false)} /> : null}
    </>
  );
}
