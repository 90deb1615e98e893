import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { egressRefusal } from '../../platform/egress/egress.ts';
import { AppError, type ErrorDetail, invalid, notFound } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { isModelProvider, type ModelProvider, providerFacts } from '../../platform/models/providers.ts';
import { createConnection } from '../connections/create.ts';
import { deleteConnection } from '../connections/delete.ts';
import { NO_SECRET } from '../connections/document.ts';
import { getConnection } from '../connections/get.ts';
import { listConnections } from '../connections/list.ts';
import { patchConnection } from '../connections/patch.ts';
import type { Connection } from '../connections/schemas.ts';
import {
  type CreateKeyInput,
  type DeleteKeyInput,
  KeyConfig,
  type ListKeysInput,
  type ListKeysOutput,
  type ModelKey,
  type PatchKeyInput,
} from './schemas.ts';
import { llmService } from './select-key.ts';

type ConnectionView = z.input<typeof Connection>;
type KeyView = z.input<typeof ModelKey>;

/** Lists the model keys. A model key is a connection with service `llm`; these are its use cases in terms of keys. */
export async function listModelKeys(
  ctx: Context,
  input: z.output<typeof ListKeysInput>,
): Promise<z.input<typeof ListKeysOutput>> {
  const { connections, next_cursor } = await listConnections(ctx, { ...input, service: llmService });
  return { keys: connections.flatMap(toKey), next_cursor };
}

/** Creates a model key. Throws AppError 422 for a key or base URL that is missing, or a base URL that may not be called. */
export async function createModelKey(ctx: Context, input: z.output<typeof CreateKeyInput>): Promise<KeyView> {
  const { provider, name = providerFacts[provider].name, api_key, base_url, models, context_window, shared } = input;
  const details: ErrorDetail[] = [];
  if (provider !== 'openai_compatible' && api_key === undefined) {
    details.push({ path: 'api_key', message: `is needed for ${providerFacts[provider].name}` });
  }
  await refuseSettings(ctx, { provider, base_url, models, context_window }, details);
  const created = await createConnection(ctx, {
    display_name: name,
    provider,
    service: llmService,
    credentials: { api_key: api_key ?? NO_SECRET },
    config: configOf({ base_url, models, context_window }),
    ...(shared === undefined ? {} : { shared }),
  });
  return keyOf(created);
}

/** Changes a model key. Throws AppError 404 for any other connection; 422 as for creating. */
export async function patchModelKey(ctx: Context, input: z.output<typeof PatchKeyInput>): Promise<KeyView> {
  const { id, name, api_key, base_url, models, context_window, shared } = input;
  const former = await requireModelKey(ctx, id);
  const next = {
    base_url: base_url === undefined ? (former.base_url ?? undefined) : (base_url ?? undefined),
    models: models ?? (former.models.length > 0 ? former.models : undefined),
    context_window: (context_window === undefined ? former.context_window : context_window) ?? undefined,
  };
  await refuseSettings(ctx, { provider: former.provider, ...next, unchanged: former.base_url }, []);
  const settings = [base_url, models, context_window].some(each => each !== undefined);
  const changed = await patchConnection(ctx, {
    id,
    display_name: name,
    ...(api_key === undefined ? {} : { credentials: { api_key } }),
    ...(settings ? { config: configOf(next) } : {}),
    ...(shared === undefined ? {} : { shared }),
  }).catch(throwWithKeyFields);
  return keyOf(changed);
}

/** Renames `credentials.api_key` of a connection to `api_key`. */
function throwWithKeyFields(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'secret_required') throw error;
  const details = error.details?.map(detail => ({ ...detail, path: detail.path.replace(/^credentials\./, '') }));
  throw invalid('The API key must be entered again to be sent to another origin.', details, error.code);
}

/** Deletes a model key. Throws AppError 404 for any other connection; 409 `connection_in_use` with the workflows, unless forced. */
export async function deleteModelKey(ctx: Context, input: z.output<typeof DeleteKeyInput>): Promise<undefined> {
  await requireModelKey(ctx, input.id);
  return deleteConnection(ctx, input);
}

/** Returns the key of that id. Throws AppError 404 for any other connection. */
export async function requireModelKey(ctx: Context, id: string): Promise<KeyView> {
  const [key] = toKey(await getConnection(ctx, { id }));
  if (key === undefined) throw notFound('Connection');
  return key;
}

function configOf({ base_url, models, context_window }: z.output<typeof KeyConfig>): JsonObject {
  return {
    ...(base_url === undefined ? {} : { base_url }),
    ...(models === undefined ? {} : { models }),
    ...(context_window === undefined ? {} : { context_window }),
  };
}

type Settings = {
  provider: ModelProvider;
  base_url: string | undefined;
  models: readonly string[] | undefined;
  context_window: number | undefined;
  /** The base URL that is stored already, and needs no look-up. */
  unchanged?: string | null;
};

async function refuseSettings(ctx: Context, settings: Settings, details: ErrorDetail[]): Promise<void> {
  const { provider, base_url, models, context_window, unchanged } = settings;
  if (provider === 'openai_compatible' && base_url === undefined) {
    details.push({ path: 'base_url', message: 'is needed: where is the server?' });
  }
  if (provider !== 'openai_compatible' && models !== undefined && models.length > 0) {
    details.push({ path: 'models', message: 'is for openai_compatible servers: a provider has its own' });
  }
  if (provider !== 'openai_compatible' && context_window !== undefined) {
    details.push({ path: 'context_window', message: 'is for openai_compatible servers: that of a provider is known' });
  }
  if (base_url !== undefined && base_url !== unchanged) {
    // A base URL that may not be called is refused now, not only when the first run fails.
    const refused = await egressRefusal(ctx.services.egress, base_url);
    if (refused !== null) details.push({ path: 'base_url', message: refused.message, code: refused.code });
  }
  if (details.length > 0) throw invalid('The model key is not valid.', details, 'validation_error');
}

function toKey(connection: ConnectionView): KeyView[] {
  return connection.service === llmService && isModelProvider(connection.provider) ? [keyOf(connection)] : [];
}

function keyOf(connection: ConnectionView): KeyView {
  const { provider, config } = connection;
  if (!isModelProvider(provider)) throw new Error(`A key of the unknown provider ${provider}.`);
  const parsed = KeyConfig.safeParse(config);
  return {
    id: connection.id,
    project_id: connection.project_id,
    origins: connection.origins,
    name: connection.name,
    provider,
    base_url: parsed.data?.base_url ?? null,
    models: parsed.data?.models ?? [],
    context_window: parsed.data?.context_window ?? null,
    // A key that was created as a plain connection may contain anything.
    status: parsed.success ? connection.status : 'error',
    last_error: parsed.success ? connection.last_error : 'Its settings are not those of a model key.',
    created_at: connection.created_at,
    rotated_at: connection.rotated_at,
    last_used_at: connection.last_used_at,
  };
}
