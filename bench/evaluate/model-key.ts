import type { ChatService } from '../../server/testing/chat.ts';

/** `npm run evaluate` sets these. */
const { BATON_TEST_EVALUATE_KEY: apiKey, BATON_TEST_EVALUATE_URL: baseUrl } = process.env;

/** Gives the workspace a key for only this model, in place of the key for the script. */
export async function giveKeyFor(chat: ChatService, model: string): Promise<void> {
  const [provider, ...rest] = model.split('/');
  const { keys } = (await chat.act('llm_provider_keys_list')) as unknown as { keys: { id: string }[] };
  for (const key of keys) await chat.act('llm_provider_keys_delete', { id: key.id, force: 'true' });
  await chat.act('llm_provider_keys_create', {
    provider,
    ...(apiKey !== undefined && { api_key: apiKey }),
    ...(baseUrl !== undefined && { base_url: baseUrl, models: [rest.join('/')] }),
  });
}
