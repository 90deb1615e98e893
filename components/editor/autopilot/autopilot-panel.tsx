'use client';
import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useSession } from '../../session/session.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import type { Draft } from '../use-draft.ts';
import { ProposalList } from './proposal-list.tsx';
import { ProposalView } from './proposal-view.tsx';

// Loaded on demand, together with the stream client, which proposals do not need.
const Conversation = dynamic(() => import('./conversation.tsx').then(module => module.Conversation), {
  ssr: false,
  loading: () => <Skeleton className="m-4 h-40" />,
});

type Props = { workflowId: string; draft: Draft; editable: boolean };

/** The panel with the conversation with Autopilot and the proposals for the workflow. */
export function AutopilotPanel({ workflowId, draft, editable }: Props) {
  const url = useUrlState();
  const { agents } = useSession().me;
  const [view, setView] = useState<'chat' | 'proposals'>('chat');
  const proposal = url.get('proposal');
  const { save, take } = draft;
  const target = useMemo(() => ({ save, take }), [save, take]);
  if (proposal !== '')
    return (
      <div className="p-4">
        <ProposalView
          key={proposal}
          id={proposal}
          target={target}
          editable={editable}
          onClose={() => url.set({ proposal: undefined, drawn: undefined })}
        />
      </div>
    );
  const list = <ProposalList workflowId={workflowId} onOpen={({ id }) => url.set({ proposal: id, step: undefined })} />;
  // Without agents there is no conversation with Autopilot, but assistants elsewhere can still create proposals.
  if (!agents) return list;
  return (
    <div className="flex h-full flex-col px-3">
      <Tabs
        label="Autopilot"
        value={view}
        onChange={setView}
        tabs={[
          {
            value: 'chat',
            label: 'Conversation',
            content: (
              <div className="-mx-3 -mt-4 h-full">
                <Conversation workflowId={workflowId} target={target} editable={editable} />
              </div>
            ),
          },
          { value: 'proposals', label: 'Proposals', content: <div className="-mx-3 -mt-4">{list}</div> },
        ]}
      />
    </div>
  );
}
