import type { UIMessageChunk } from 'ai';
import { ProposalData, TrialData } from '../schemas.ts';
import type { AnswerEvent } from './frames.ts';

const PROPOSALS: ReadonlySet<string> = new Set([
  'autopilot_propose',
  'autopilot_edit_proposal',
  'autopilot_get_proposal',
]);
const TRIALS: ReadonlySet<string> = new Set(['autopilot_try_proposal', 'autopilot_get_trial']);

const Proposal = ProposalData.omit({ proposal_id: true }).extend({ id: ProposalData.shape.proposal_id }).loose();
const Trial = TrialData.loose();

/** Returns a data chunk for a call that has created, changed, tried or read a proposal. Clients show it as a card. */
export function proposalFrames({ event_type: type, data }: AnswerEvent, tool: string | undefined): UIMessageChunk[] {
  if (type !== 'step_completed' || tool === undefined) return [];
  if (PROPOSALS.has(tool)) {
    const proposal = Proposal.safeParse(data.result).data;
    if (proposal === undefined) return [];
    const { id, workflow_id, title, status, edits, valid } = proposal;
    return [{ type: 'data-proposal', id, data: { proposal_id: id, workflow_id, title, status, edits, valid } }];
  }
  if (TRIALS.has(tool)) {
    const trial = Trial.safeParse(data.result).data;
    if (trial === undefined) return [];
    const { proposal_id, workflow_id, run_id, verdict } = trial;
    return [{ type: 'data-trial', id: proposal_id, data: { proposal_id, workflow_id, run_id, verdict } }];
  }
  return [];
}
