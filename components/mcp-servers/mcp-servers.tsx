'use client';
import { Blocks, LibraryBig, Plus } from 'lucide-react';
import { usePermissions } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { NeedsContributor } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { CatalogDialog } from './catalog-dialog.tsx';
import { CreateInstanceDialog } from './create-instance.tsx';
import { InstanceList } from './instance-list.tsx';
import { RegisterDialog } from './register-dialog.tsx';
import { ServerList } from './server-list.tsx';

const views = ['servers', 'instances'] as const;
type View = (typeof views)[number];

/** The MCP servers of the workspace, and the instances through which this project's workflows call their tools. */
export function McpServers() {
  const { get, set } = useUrlState();
  const { canWrite } = usePermissions();
  const view = views.find(each => each === get('view')) ?? 'servers';
  const open = get('open');
  const close = () => set({ open: '', server: '' });
  return (
    <Page>
      <PageHeader
        title="MCP servers"
        description="Tools for the steps of workflows: servers for the workspace, instances for this project."
        actions={canWrite ? <Actions view={view} /> : null}
      />
      {canWrite ? (
        <Tabs<View>
          label="MCP"
          value={view}
          onChange={next => set({ view: next, q: '', status: '', cursor: '' }, { push: true })}
          tabs={[
            { value: 'servers', label: 'Servers', content: <ServerList /> },
            { value: 'instances', label: 'Instances', content: <InstanceList /> },
          ]}
        />
      ) : (
        <NeedsContributor icon={Blocks} what="MCP servers" />
      )}
      {canWrite && open === 'catalog' ? <CatalogDialog onClose={close} /> : null}
      {canWrite && open === 'register' ? <RegisterDialog onClose={close} /> : null}
      {canWrite && open === 'instance' ? <CreateInstanceDialog serverId={get('server')} onClose={close} /> : null}
    </Page>
  );
}

function Actions({ view }: { view: View }) {
  const { set } = useUrlState();
  if (view === 'instances')
    return (
      <Button
        variant="primary"
        icon={<Plus aria-hidden className="size-3.5" />}
        onClick={() => set({ open: 'instance' })}
      >
        Create instance
      </Button>
    );
  return (
    <>
      <Button icon={<LibraryBig aria-hidden className="size-3.5" />} onClick={() => set({ open: 'catalog' })}>
        Catalog
      </Button>
      <Button
        variant="primary"
        icon={<Plus aria-hidden className="size-3.5" />}
        onClick={() => set({ open: 'register' })}
      >
        Register server
      </Button>
    </>
  );
}
