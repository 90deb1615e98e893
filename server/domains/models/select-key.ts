import type { Services } from '../../operation/services.ts';
import { type ModelProvider, providerFacts } from '../../platform/models/providers.ts';
import { type ConnectionRow, listOfService } from '../connections/store.ts';
import type { ModelReference, ReferenceProblem } from './reference.ts';
import { KeyConfig } from './schemas.ts';

/** The `service` of connections that hold model keys. */
export const llmService = 'llm';
/** More than the keys of any workspace. */
const MAX_KEYS = 200;
/** The owner of keys: a project, which also sees the keys that are shared with its workspace. */
export type KeyScope = { tenantId: string; projectId: string };

/** A key with settings that can be used. */
export type UsableKey = {
  id: string;
  provider: ModelProvider;
  baseUrl: string | undefined;
  models: readonly string[];
  /** The context window of all its models, in tokens. */
  contextWindow: number | undefined;
};

/** Returns the model keys that serve a project: its own before the workspace's, each newest first. */
export async function listKeyRows(
  { prisma }: Pick<Services, 'prisma'>,
  { tenantId, projectId }: KeyScope,
): Promise<ConnectionRow[]> {
  const rows = await listOfService(prisma, { tenantId, projectId }, llmService, MAX_KEYS);
  return [...rows.filter(row => row.projectId !== null), ...rows.filter(row => row.projectId === null)];
}

/** Returns the keys among connections that can serve calls: active, with valid settings. */
export function usableKeys(rows: readonly ConnectionRow[]): UsableKey[] {
  return rows.flatMap(({ id, provider, status, config }) => {
    const parsed = KeyConfig.safeParse(config);
    if (status !== 'active' || !parsed.success || !Object.hasOwn(providerFacts, provider)) return [];
    const key = {
      id,
      provider: provider as ModelProvider,
      baseUrl: parsed.data.base_url,
      models: parsed.data.models ?? [],
      contextWindow: parsed.data.context_window,
    };
    // Without an address, the key has no server to call.
    return key.provider === 'openai_compatible' && key.baseUrl === undefined ? [] : [key];
  });
}

/**
 * Returns the key for a model: the first of the provider, `keys` being in the order of listKeyRows. Of several
 * `openai_compatible` servers it is the newest that lists the model, else the newest that lists no models and so may
 * have any.
 */
export function selectKey(
  keys: readonly UsableKey[],
  { provider, model }: ModelReference,
): UsableKey | ReferenceProblem {
  const own = keys.filter(key => key.provider === provider);
  const { name } = providerFacts[provider];
  const [newest] = own;
  if (newest === undefined) {
    const message = `there is no key for ${name} in this workspace: add one under Settings, Model keys`;
    return { code: 'model_key_missing', message };
  }
  if (provider !== 'openai_compatible') return newest;
  const server = own.find(key => key.models.includes(model)) ?? own.find(key => key.models.length === 0);
  if (server !== undefined) return server;
  const listed = own.flatMap(key => key.models).slice(0, 10);
  const message = `no OpenAI-compatible server of this workspace has ${JSON.stringify(model.slice(0, 80))}: they list ${listed.join(', ')}`;
  return { code: 'unknown_model', message };
}
