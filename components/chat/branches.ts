import type { Outputs } from '../trpc/provider.tsx';

export type Message = Outputs['chat_list_messages']['messages'][number];
/** A message with its alternatives on other branches. `index`: the index of the message among its siblings. */
export type Placed = { message: Message; siblings: readonly Message[]; index: number };

/**
 * Returns the branch of a thread that ends with `head`, oldest message first. The siblings of a message have the same role and parent: they
 * are edits of a question or other answers.
 */
export function branchTo(messages: readonly Message[], head: string | null): Placed[] {
  const byId = new Map(messages.map(message => [message.id, message]));
  const path: Placed[] = [];
  const seen = new Set<string>();
  for (
    let at = byId.get(head ?? '');
    at !== undefined && !seen.has(at.id);
    at = byId.get(at.metadata.parent_id ?? '')
  ) {
    seen.add(at.id);
    const { role, metadata } = at;
    const siblings = messages.filter(other => other.role === role && other.metadata.parent_id === metadata.parent_id);
    path.push({ message: at, siblings, index: siblings.indexOf(at) });
  }
  return path.reverse();
}

/** Returns the last message of the branch on which `id` is, following the newest message at each fork. */
export function leafBelow(messages: readonly Message[], id: string): string {
  let leaf = id;
  for (const seen = new Set<string>(); !seen.has(leaf); ) {
    seen.add(leaf);
    leaf = messages.findLast(({ metadata }) => metadata.parent_id === leaf)?.id ?? leaf;
  }
  return leaf;
}

/** Returns the text of a message without reasoning and calls. */
export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n\n');
