import type { JsonMap, JsonValue } from '../../core/index.ts';
import { InvalidStep } from '../common-fields.ts';
import type { HttpAnswer, HttpCall, HttpFailed, HttpRequester, HttpResponse } from '../http-requester.ts';
import { resolve, type TemplateScope, TemplateUnresolved } from '../rendering.ts';
import { parseResponseTemplate, type Reference, TemplateSyntaxError } from '../templates.ts';
import { type HttpRequestFields, MAX_PAGES } from './fields.ts';
import { linksOf } from './links.ts';
import { renderUrl, urlProblem, withoutFragment } from './url.ts';

type Pagination = NonNullable<HttpRequestFields['pagination']>;

/** docs/specification/limits.md#sizes */
const MAX_ITEMS_BYTES = 1024 * 1024;

/** The items of all pages; `more` says that there were pages beyond `max_pages`. */
export type Pages = {
  kind: 'pages';
  pages: { status: number; headers: Record<string, string>; items: JsonValue[]; pages: number; more: boolean };
};

/** Parses the path of the list in a body; null for a text that is none. */
export function itemsPath(items: string | undefined): Reference | null {
  const path = items === undefined ? '' : items.startsWith('[') ? items : `.${items}`;
  try {
    const { whole } = parseResponseTemplate(`{{response.body${path}}}`);
    return whole === null || whole.fallback !== undefined ? null : whole;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null;
    throw error;
  }
}

/**
 * Sends a request and those for the pages after it, and returns the items of all. A page of another origin is refused: it
 * would get the headers of the step. The same page twice ends in a failure, not in an endless loop.
 */
export async function requestPages(
  requester: HttpRequester,
  first: HttpCall,
  pagination: Pagination,
  on: { signal: AbortSignal },
): Promise<Pages | HttpFailed> {
  const { max_pages: maxPages = MAX_PAGES } = pagination;
  const list = new ItemList(pagination.items);
  const visited = new Set<string>();
  let url = new URL(first.url);
  for (;;) {
    visited.add(url.href);
    const answer: HttpAnswer = await requester.send({ ...first, url: url.href }, on);
    if (answer.kind === 'failed') return answer;
    const { response } = answer;
    const failure = list.add(response);
    if (failure !== null) return failure;
    const next = nextPage(pagination.next, response, url);
    if (next !== null && 'kind' in next) return next;
    if (next !== null && visited.has(next.href)) {
      return failed('pagination_loop', `Page ${visited.size} leads to a page that was read already.`);
    }
    if (next === null || visited.size === maxPages) {
      const { status, headers } = response;
      const pages = { status, headers, items: list.items, pages: visited.size, more: next !== null };
      return { kind: 'pages', pages };
    }
    url = next;
  }
}

/** The items of all pages so far. */
class ItemList {
  readonly items: JsonValue[] = [];
  readonly #path: Reference | null;
  readonly #name: string;
  #bytes = 0;

  constructor(items: string | undefined) {
    this.#path = itemsPath(items);
    this.#name = items === undefined ? 'the body' : `body.${items}`;
  }

  add({ body, encoding }: HttpResponse): HttpFailed | null {
    const found = this.#path === null || encoding !== undefined ? null : orNull(this.#path, { body });
    if (!Array.isArray(found)) {
      return failed('pagination_items_missing', `There is no list at ${this.#name} of the response.`);
    }
    this.#bytes += Buffer.byteLength(JSON.stringify(found));
    if (this.#bytes > MAX_ITEMS_BYTES) {
      return failed('response_too_large', 'The items of all pages are larger than 1 MiB of JSON.');
    }
    for (const item of found) this.items.push(item);
    return null;
  }
}

/** The next page; null if the response names none. */
function nextPage(template: string, response: HttpResponse, current: URL): URL | HttpFailed | null {
  const parsed = parseResponseTemplate(template);
  const { status, headers, body } = response;
  // Only `response` can be read, so that it stands in the place of the input.
  const scope = scopeOf({ status, headers, body, links: linksOf(headers.link) });
  for (const part of parsed.parts) {
    if (typeof part === 'string') continue;
    const value = orNull(part, scope.input);
    if (value === null || value === false || value === '') return null;
  }
  try {
    const text = renderUrl(parsed, 'pagination.next', scope);
    const next = URL.parse(text, current);
    if (next === null || urlProblem(next.href) !== null) {
      return failed('pagination_next_invalid', 'The address of the next page is not an http or https URL.');
    }
    if (next.origin !== current.origin) {
      return failed('pagination_origin_refused', `The next page is at ${next.origin}, not at ${current.origin}.`);
    }
    return withoutFragment(next);
  } catch (error) {
    if (error instanceof InvalidStep) return failed('pagination_next_invalid', error.message);
    throw error;
  }
}

const scopeOf = (input: JsonMap): TemplateScope => ({ input, result: () => null });

/** Null also where the path does not resolve. */
function orNull(reference: Reference, response: JsonMap): JsonValue {
  try {
    return resolve(reference, scopeOf(response));
  } catch (error) {
    if (error instanceof TemplateUnresolved) return null;
    throw error;
  }
}

const failed = (code: string, message: string): HttpFailed => ({ kind: 'failed', code, message, retryable: false });
