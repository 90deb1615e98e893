import { z } from 'zod';
import { Id, nextCursor, page, Timestamp } from '../../operation/wire.ts';
import { connectionStatuses, DisplayName, HeaderSecret, Shared } from '../connections/schemas.ts';

/** The providers of server/platform/models/providers.ts, which the console must not load; a test compares both. */
export const providerNames = ['openai', 'anthropic', 'google', 'mistral', 'openai_compatible'] as const;
const Provider = z.enum(providerNames);

const MAX_MODELS = 100;
const ModelId = z.string().regex(/^[\w.:@+-][\w./:@+-]{0,189}$/, 'must be the name of a model');
const Models = z.array(ModelId).max(MAX_MODELS).meta({
  description: 'The models that an openai_compatible server serves. If empty, steps can name any model.',
});
const BaseUrl = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .meta({
    description: "Instead of the provider's own; openai_compatible needs one, such as http://127.0.0.1:11434/v1",
  });

const ContextWindow = z.number().int().min(1_024).max(100_000_000).meta({
  description: 'How many tokens the models of an openai_compatible server read. Default: it is not known.',
});

/** The `config` of a connection with service `llm`. */
export const KeyConfig = z.object({
  base_url: BaseUrl.optional(),
  models: Models.optional(),
  context_window: ContextWindow.optional(),
});

const CatalogModel = z.strictObject({
  id: z.string().meta({ description: 'provider/model, as steps name it' }),
  name: z.string(),
  context_window: z.number().int().optional().meta({ description: 'Tokens' }),
  max_output: z.number().int().optional().meta({ description: 'Tokens' }),
  supports: z.strictObject({
    structured_output: z.boolean(),
    temperature: z.boolean(),
    tools: z.boolean(),
    /** The model only creates embeddings. */
    embeddings: z.boolean(),
  }),
});
export const CatalogInput = z.strictObject({});
export const CatalogOutput = z.strictObject({
  providers: z.array(
    z.strictObject({
      provider: Provider,
      name: z.string(),
      /** Whether the workspace has a key for the model. */
      configured: z.boolean(),
      documentation_url: z.string(),
      models: z.array(CatalogModel),
    }),
  ),
});

export const ResolveInput = z.strictObject({
  model: z.string().min(1).max(200).meta({ description: 'provider/model' }),
  purpose: z.enum(['chat', 'tools', 'embedding']).optional().meta({
    description: 'What it is needed for. A model that is not made for it is not available.',
  }),
});
export const ResolveOutput = z.strictObject({
  provider: Provider,
  model: z.string().meta({ description: "The provider's own name of it" }),
  connection_id: Id.nullable().meta({ description: 'Whose key is used' }),
  base_url: z.string().optional(),
  available: z.boolean().meta({ description: 'Whether a step with it can be published and executed' }),
  reason: z.string().optional().meta({ description: 'Why it is not available' }),
});

export const ModelKey = z.strictObject({
  id: Id.meta({ description: 'The id of the connection that holds it' }),
  name: z.string(),
  provider: Provider,
  /** The project that the key belongs to; null: shared with the whole workspace. */
  project_id: Id.nullable(),
  base_url: z.string().nullable(),
  /** The origins to which the key may be sent. */
  origins: z.array(z.string()),
  models: z.array(z.string()),
  context_window: z.number().int().nullable(),
  status: z.enum(connectionStatuses),
  last_error: z.string().nullable(),
  created_at: Timestamp,
  rotated_at: Timestamp,
  last_used_at: Timestamp.nullable(),
});
export const ListKeysInput = z.strictObject({ ...page });
export const ListKeysOutput = z.strictObject({ keys: z.array(ModelKey), ...nextCursor });
export const CreateKeyInput = z.strictObject({
  provider: Provider,
  name: DisplayName.optional(),
  api_key: HeaderSecret.optional().meta({ description: 'Only an openai_compatible server may leave it out' }),
  base_url: BaseUrl.optional(),
  models: Models.optional(),
  context_window: ContextWindow.optional(),
  shared: Shared.optional(),
});
export const PatchKeyInput = z.strictObject({
  id: Id,
  name: DisplayName.optional(),
  api_key: HeaderSecret.optional(),
  base_url: BaseUrl.nullable().optional().meta({
    description: "null: the provider's own. Another origin needs `api_key` with it: 422 `secret_required`.",
  }),
  models: Models.optional(),
  context_window: ContextWindow.nullable().optional(),
  shared: Shared.optional(),
});
export const DeleteKeyInput = z.strictObject({
  id: Id,
  /** Delete the key even if workflows use the provider's models. */
  force: z.boolean().default(false),
});
export const TestKeyInput = z.strictObject({ id: Id });
export const TestKeyOutput = z.strictObject({
  ok: z.boolean(),
  code: z.string().nullable(),
  message: z.string(),
  /** The models that the provider lists for the key, at most 500. */
  models: z.array(z.string()),
});
