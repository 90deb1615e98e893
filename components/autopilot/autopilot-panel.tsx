'use client';
import { useMemo } from 'react';
import type { Draft } from '../editor/use-draft.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { ProposalList } from './proposal-list.tsx';
import { ProposalView } from './proposal-view.tsx';

type Props = { workflowId: string; draft: Draft; editable: boolean };

/** Beside the graph: what assistants have proposed for this workflow, and one proposal to look at, try, apply and undo. */
export function AutopilotPanel({ workflowId, draft, editable }: Props) {
  const url = useUrlState();
  const proposal = url.get('proposal');
  const { save, take } = draft;
  const target = useMemo(() => ({ save, take }), [save, take]);
  if (proposal === '')
    return <ProposalList workflowId={workflowId} onOpen={({ id }) => url.set({ proposal: id, step: undefined })} />;
  return (
    <div className="p-4">
      <ProposalView
        key={proposal}
        id={proposal}
        target={target}
        editable={editable}
        onClose={() => url.set({ proposal: undefined })}
      />
    </div>
  );
}
