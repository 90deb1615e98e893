import type { JsonMap, JsonValue } from '../../core/index.ts';
import { resolve, type TemplateScope, TemplateUnresolved } from '../../languages/rendering.ts';
import { parseResponseTemplate, type Reference, TemplateSyntaxError } from '../../languages/templates.ts';
import type { HttpResponse } from './http-requester.ts';
import { linksOf } from './links.ts';

/** Parses the path of the list in a body; null for an invalid path. */
export function itemsPath(items: string | undefined): Reference | null {
  const path = items === undefined ? '' : items.startsWith('[') ? items : `.${items}`;
  try {
    const { whole } = parseResponseTemplate(`{{response.body${path}}}`);
    return whole === null || whole.fallback !== undefined || whole.or !== undefined ? null : whole;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null;
    throw error;
  }
}

/** Only `response` can be read, so it replaces the input. */
export const responseScope = (input: JsonMap): TemplateScope => ({ input, result: () => null });

/** Returns the scope for the templates of `pagination`: the response of a page, and the last item of its list. */
export function pageScope({ status, headers, body }: HttpResponse, items: readonly JsonValue[]): TemplateScope {
  const response: JsonMap = { status, headers, body, links: linksOf(headers.link) };
  return responseScope(items.length === 0 ? response : { ...response, last_item: items.at(-1) ?? null });
}

/** Returns the value of a reference; null if the path does not resolve. */
export function orNull(reference: Reference, scope: TemplateScope): JsonValue {
  try {
    return resolve(reference, scope);
  } catch (error) {
    if (error instanceof TemplateUnresolved) return null;
    throw error;
  }
}

/** Whether a reference reads `response.links.next`, which the last page of RFC 8288 does not have. */
export function readsNextLink({ path }: Reference): boolean {
  return path[0] === 'links' && path[1] === 'next';
}

/**
 * Whether the value means that no page follows: null, false and "", which many servers send instead of an address, a
 * cursor or a flag.
 */
export const isNothing = (value: JsonValue) => value === null || value === false || value === '';
