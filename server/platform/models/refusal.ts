import { isObject, type Json } from '../json.ts';
import { type ModelFailure, quoteReason } from './failure.ts';
import { type ModelProvider, providerFacts } from './providers.ts';

/** The reason for which an answer ended, in the library's terms and in the provider's, with the provider's details. */
export type Ending = {
  unified: string;
  raw: string | undefined;
  /** The details that the library passes on, by provider. */
  metadata: Json | undefined;
};

/** Filter reasons that the library does not classify as such. */
const FILTERS = new Set([
  'content_filter',
  'refusal',
  'SAFETY',
  'PROHIBITED_CONTENT',
  'BLOCKLIST',
  'SPII',
  'RECITATION',
]);

/**
 * Returns the failure for an answer in which the model declined, with its reason; undefined for any other. `text`: the answer,
 * in which models such as OpenAI's give the reason in their own words.
 */
export function refusalOf(provider: ModelProvider, ending: Ending, text: string): ModelFailure | undefined {
  const { unified, raw, metadata } = ending;
  const { name } = providerFacts[provider];
  const own = isObject(metadata)
    ? (metadata[provider === 'openai_compatible' ? 'openaiCompatible' : provider] ?? null)
    : null;
  const feedback = isObject(own) && isObject(own.promptFeedback) ? own.promptFeedback : {};
  if (unified !== 'content-filter' && !FILTERS.has(raw ?? '') && typeof feedback.blockReason !== 'string')
    return undefined;
  const isByModel = (provider === 'openai' || provider === 'openai_compatible') && raw !== 'content_filter';
  if (isByModel && text.trim() !== '') {
    const message = `${name} declined to answer: ${quoteReason(text)}`;
    return { kind: 'failed', code: 'model_refused', message, retryable: false };
  }
  const reason = [...new Set([feedback.blockReason ?? raw, ...reasonsIn(own, feedback)])]
    .filter(part => typeof part === 'string' && part !== 'stop' && part !== '')
    .join(', ');
  const message = `${name} refused to answer: its content filter stepped in${reason === '' ? '' : ` (${quoteReason(reason)})`}.`;
  return { kind: 'failed', code: 'model_content_filtered', message, retryable: false };
}

/** Returns Anthropic's category and explanation, or Google's message and the categories for which it blocked the answer. */
function reasonsIn(own: Json, feedback: { [key: string]: Json }): Json[] {
  if (!isObject(own)) return [];
  const details = isObject(own.stopDetails) ? own.stopDetails : {};
  const ratings = [own.safetyRatings, feedback.safetyRatings].flatMap(list => (Array.isArray(list) ? list : []));
  const blocked = ratings.flatMap(one => (isObject(one) && one.blocked === true ? [one.category ?? null] : []));
  return [details.category, details.explanation, own.finishMessage, feedback.blockReasonMessage, ...blocked].map(
    part => part ?? null,
  );
}
