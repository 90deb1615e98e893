import { branchTo, type Message } from '../../chat/branches.ts';
import type { ProposalHead } from './proposal.ts';

/** A message with the applied proposals of its answer and of later ones, last applied first. */
export type RestorePoint = { message: Message; undo: readonly ProposalHead[] };

/** Returns the messages whose answers changed the draft, newest first. The draft can be restored to its state before each. */
export function restorePoints(messages: readonly Message[], proposals: readonly ProposalHead[]): RestorePoint[] {
  const places = new Map(messages.map(({ id }, at) => [id, at]));
  const applied = proposals
    .filter(({ status }) => status === 'applied')
    .flatMap(proposal => {
      const request = branchTo(messages, proposal.message_id).findLast(
        ({ message }) => message.role === 'user',
      )?.message;
      return request === undefined ? [] : [{ proposal, request, at: places.get(request.id) ?? 0 }];
    })
    .sort((one, other) => Date.parse(other.proposal.applied_at ?? '') - Date.parse(one.proposal.applied_at ?? ''));
  const points = new Map(applied.map(({ request, at }) => [request.id, { request, at }]));
  return [...points.values()]
    .sort((one, other) => other.at - one.at)
    .map(({ request, at }) => ({
      message: request,
      undo: applied.filter(each => each.at >= at).map(({ proposal }) => proposal),
    }));
}
