import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import { listModels } from '../../platform/models/list-models.ts';
import { providerFacts } from '../../platform/models/providers.ts';
import { createRedactor } from '../../platform/secrets/redaction.ts';
import { loadCredentials } from '../connections/credentials.ts';
import { NO_SECRET } from '../connections/document.ts';
import { connectionRef, requireConnection } from '../connections/get.ts';
import { requireOrBindOrigin } from '../connections/origins.ts';
import { isHeaderValue } from '../connections/schemas.ts';
import { addressOfKey, unsendableKey } from './directory.ts';
import { requireModelKey } from './keys.ts';
import { KeyConfig, type TestKeyInput, type TestKeyOutput } from './schemas.ts';

/** A person waits for the answer at a screen. */
const PATIENCE_MS = 15_000;

/**
 * POST /v1/llm-provider-keys/{id}/test: lists the models of the key, which costs nothing and shows whether the provider
 * accepts it. A failure is part of the answer, not an error. Throws AppError 404; 409 and 503 as in loadCredentials.
 */
export async function testModelKey(
  ctx: Context,
  { id }: z.output<typeof TestKeyInput>,
): Promise<z.input<typeof TestKeyOutput>> {
  const { services } = ctx;
  const key = await requireModelKey(ctx, id);
  if (key.provider === 'openai_compatible' && key.base_url === null) {
    return { ok: false, code: 'model_request_invalid', message: 'It has no base URL.', models: [] };
  }
  const row = await requireConnection(ctx, id);
  await requireOrBindOrigin(ctx, row, addressOfKey(row));
  const loaded = await loadCredentials(services, connectionRef(ctx, id), addressOfKey);
  if (loaded === null) throw notFound('Connection');
  const apiKey = loaded.values.api_key;
  if (apiKey !== undefined && !isHeaderValue(apiKey)) return { ok: false, ...unsendableKey, models: [] };
  // This base URL was stored together with the key, unlike the one that was read before.
  const baseUrl = KeyConfig.safeParse(loaded.config).data?.base_url;
  const access = { provider: key.provider, apiKey: apiKey === NO_SECRET ? undefined : apiKey, baseUrl };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const list = await listModels(access, { fetch: loaded.fetch, clock: services.clock, signal });
  const redactor = createRedactor(apiKey === undefined || apiKey === NO_SECRET ? [] : [apiKey]);
  if (list.kind === 'failed') return { ok: false, code: list.code, message: redactor.text(list.message), models: [] };
  const { name } = providerFacts[key.provider];
  const missing = key.models.filter(model => !list.models.includes(model));
  const message =
    missing.length === 0
      ? `${name} accepts the key and lists ${list.models.length} models.`
      : `${name} accepts the key, but does not list ${missing.slice(0, 5).join(', ')}.`;
  return { ok: true, code: null, message: redactor.text(message), models: list.models.map(redactor.text) };
}
