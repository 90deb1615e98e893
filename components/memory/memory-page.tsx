'use client';
import { BrainCircuit, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useSession } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useLoadedEarly } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { AboutMe } from './about-me.tsx';
import { HealthTab } from './health-tab.tsx';
import { ItemsTab } from './items-tab.tsx';
import { ReviewTab } from './review-tab.tsx';
import { SearchTab } from './search-tab.tsx';

const loadDialogs = () => import('./dialogs.tsx');
const Dialogs = dynamic(() => loadDialogs().then(module => module.Dialogs), { ssr: false });

const views = ['search', 'review', 'items', 'me', 'health'] as const;
type View = (typeof views)[number];

/** The memory page with its views: search, review, all items, the user's own memories, and health. */
export function MemoryPage() {
  const { get, set } = useUrlState();
  const { me } = useSession();
  const view = views.find(each => each === get('view')) ?? 'search';
  useLoadedEarly(loadDialogs);
  if (!me.memory)
    return (
      <Page>
        <PageHeader title="Memory" />
        <Card flush>
          <EmptyState icon={BrainCircuit} title="Memory is turned off">
            The operator of this deployment has turned memory off.
          </EmptyState>
        </Card>
      </Page>
    );
  return (
    <Page>
      <PageHeader
        title="Memory"
        description="What people, programs and agents told Baton, and what it has read. Search by words or by meaning."
        actions={
          <Button
            variant="primary"
            icon={<Plus aria-hidden className="size-3.5" />}
            onClick={() => set({ open: 'remember' })}
          >
            Remember something
          </Button>
        }
      />
      <Tabs<View>
        label="Memory"
        value={view}
        onChange={next => set({ view: next, cursor: '' }, { push: true })}
        tabs={[
          { value: 'search', label: 'Search', content: <SearchTab /> },
          { value: 'review', label: 'Review', content: <ReviewTab /> },
          { value: 'items', label: 'All items', content: <ItemsTab /> },
          { value: 'me', label: 'About you', content: <AboutMe /> },
          { value: 'health', label: 'Health', content: <HealthTab /> },
        ]}
      />
      {get('open') !== '' || get('item') !== '' || get('episode') !== '' ? <Dialogs /> : null}
    </Page>
  );
}
