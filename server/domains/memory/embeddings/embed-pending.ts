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

/** Texts of one request to a model. */
const BATCH = 64;
/** Workspaces that one pass serves, each with one batch. */
const MAX_TENANTS = 50;
const TIMEOUT_MS = 30_000;
/** A text that is longer says no more to a model than its beginning. */
const MAX_TEXT_LENGTH = 8_000;

/**
 * Embeds one batch for each workspace whose texts wait. Returns whether there may be more to do at once; workspaces whose model fails wait
 * for the next pass.
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
  const pending = await readPending(pool, tenantId, BATCH);
  if (pending.length === 0) {
    await finishEmbedding(pool, tenantId, settings.space, new Date(clock.now()));
    return false;
  }
  const whole = await embedTexts(services, tenantId, settings, pending, closing);
  if (whole !== 'refused') return whole === 'done';
  // Is it one of the texts, or everything? If the model takes another text, the others are not to wait for the one that it refuses, which
  // is found by its words alone.
  const request = { tenantId, projectId: SHARED_KEYS, model: settings.model, texts: ['memory'] };
  const probe = await services.embed(request, AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]));
  if (probe.kind === 'failed') return false;
  for (const each of pending) {
    const alone = await embedTexts(services, tenantId, settings, [each], closing);
    if (alone === 'failed') return false;
    if (alone === 'refused') await saveEmbeddings(pool, { tenantId, space: settings.space }, [], [each]);
  }
  return true;
}

/** `refused`: the model answered, and will not take these texts. `failed`: it may, later. */
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
