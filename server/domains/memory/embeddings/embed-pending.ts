import type { EmbedAnswer } from '../../../operation/embed.ts';
import type { Services } from '../../../operation/services.ts';
import { SHARED_KEYS } from './embed-query.ts';
import { bitsOf, codesOf } from './quantize.ts';
import {
  type EmbeddingSettings,
  finishEmbedding,
  listWaitingTenants,
  type PendingText,
  readPending,
  readSettings,
  saveEmbeddings,
} from './store.ts';

type EmbedServices = Pick<Services, 'pool' | 'clock' | 'logger' | 'embed'>;

/** The maximum number of texts in one request to a model. */
const BATCH_SIZE = 64;
/** The maximum number of workspaces in one pass. Each gets one batch. */
const MAX_TENANTS = 50;
const TIMEOUT_MS = 30_000;
/** The maximum number of characters of a text that are sent to the model. The meaning of a longer text is clear from its beginning. */
const MAX_TEXT_LENGTH = 8_000;

/**
 * Embeds one batch for each workspace with pending texts. Returns whether more texts may be pending. Workspaces whose model fails wait for the
 * next pass.
 */
export async function embedPending(services: EmbedServices, closing: AbortSignal): Promise<boolean> {
  let more = false;
  for (const tenantId of await listWaitingTenants(services.pool, MAX_TENANTS)) {
    if (closing.aborted) return false;
    if (await embedBatch(services, tenantId, closing)) more = true;
  }
  return more;
}

async function embedBatch(services: EmbedServices, tenantId: string, closing: AbortSignal): Promise<boolean> {
  const { pool, clock } = services;
  const settings = await readSettings(pool, tenantId);
  if (settings === null) return false;
  const pending = await readPending(pool, tenantId, BATCH_SIZE);
  if (pending.length === 0) {
    await finishEmbedding(pool, tenantId, settings.space, new Date(clock.now()));
    return false;
  }
  const batch = await embedTexts(services, tenantId, settings, pending, closing);
  if (batch !== 'refused') return batch === 'done';
  // The model refuses the batch. If it accepts the probe, the cause is one of the texts: each is sent separately, so that the others are
  // embedded and only the refused text is dropped.
  const request = { tenantId, projectId: SHARED_KEYS, model: settings.model, texts: ['memory'] };
  const probe = await services.embed(request, AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]));
  if (probe.kind === 'failed') return false;
  for (const each of pending) {
    const outcome = await embedTexts(services, tenantId, settings, [each], closing);
    if (outcome === 'failed') return false;
    if (outcome === 'refused') await saveEmbeddings(pool, { tenantId, space: settings.space }, [], [each]);
  }
  return true;
}

/** Embeds texts in one request. `refused`: the model does not accept these texts. `failed`: a later attempt may succeed. */
async function embedTexts(
  services: EmbedServices,
  tenantId: string,
  { model, dimensions, space }: EmbeddingSettings,
  pending: readonly PendingText[],
  closing: AbortSignal,
): Promise<'done' | 'refused' | 'failed'> {
  const present = pending.flatMap(({ text, ...each }) => (text === null ? [] : [{ ...each, text }]));
  const texts = present.map(({ text }) => text.slice(0, MAX_TEXT_LENGTH));
  const signal = AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]);
  const answer: EmbedAnswer =
    texts.length === 0
      ? { kind: 'vectors', vectors: [] }
      : await services.embed({ tenantId, projectId: SHARED_KEYS, model, texts }, signal);
  if (answer.kind === 'failed') {
    services.logger.warn({ tenant: tenantId, code: answer.code }, 'texts of memory wait for their embeddings');
    return answer.code === 'model_request_invalid' ? 'refused' : 'failed';
  }
  if (answer.vectors.some(vector => vector.length !== dimensions)) {
    services.logger.warn({ tenant: tenantId }, 'the embedding model of memory has changed its dimension: set it again');
    return 'failed';
  }
  const embeddings = present.flatMap(({ id, is_item: isItem }, at) => {
    const vector = answer.vectors[at];
    return vector === undefined ? [] : [{ id, isItem, bits: bitsOf(vector), codes: codesOf(vector) }];
  });
  await saveEmbeddings(services.pool, { tenantId, space }, embeddings, pending);
  return 'done';
}
