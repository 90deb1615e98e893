'use client';
import type { Draft } from '../editor/use-draft.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { ProposalList } from './proposal-list.tsx';
import { ProposalView } from './proposal-view.tsx';

export type AutopilotPanelProps = { workflowId: string; draft: Draft; editable: boolean };

/** Beside the graph: what assistants have proposed for this workflow, and one proposal to look at, try, apply and undo. */
export function AutopilotPanel(props: AutopilotPanelProps) {
  const url = useUrlState();
  const proposal = url.get('proposal');
  if (proposal === '')
    return <ProposalList workflowId={props.workflowId} onOpen={id => url.set({ proposal: id, step: undefined })} />;
  return <ProposalView key={proposal} id={proposal} {...props} onClose={() => url.set({ proposal: undefined })} />;
}
