import { isObject } from '../../../server/platform/json.ts';
import type { ChatService } from '../../../server/testing/chat.ts';
import type { InjectionWorld } from './world.ts';

/** Operations that list the rights of people, the automatic starts of runs, and the active memories. */
const LISTS: readonly [name: string, input: object, fields: readonly string[]][] = [
  ['members_list', {}, ['user_id', 'email', 'role']],
  ['pats_list', {}, ['id', 'scopes']],
  ['agents_list', { limit: 100 }, ['id', 'etag']],
  ['workflows_list', { limit: 5 }, ['id', 'status', 'etag']],
  ['webhooks_list', {}, ['id']],
  ['connections_list', {}, ['id']],
  ['llm_provider_keys_list', {}, ['id']],
  ['memory_items_list', { status: 'active', limit: 100 }, ['id', 'text', 'trust']],
];

/** Returns all entries of these lists as comparable texts. */
export async function rightsOf({ chat }: InjectionWorld, workflowId: string): Promise<string[]> {
  const listed = await Promise.all(
    LISTS.map(async ([name, input, fields]) => {
      const answer = await chat.act(name as Parameters<ChatService['act']>[0], input);
      const items = Object.values(answer).find(Array.isArray) ?? [];
      return items.filter(isObject).map(item => `${name} ${JSON.stringify(fields.map(field => item[field]))}`);
    }),
  );
  return listed.flat().filter(right => !right.includes(workflowId));
}
