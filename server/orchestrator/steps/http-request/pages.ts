import type { JsonValue } from '../../core/index.ts';
import type { HttpAnswer, HttpCall, HttpFailed, HttpRequester, HttpResponse } from './http-requester.ts';
import { MAX_PAGES, type Pagination } from './page-fields.ts';
import { PageOrder } from './page-order.ts';
import { itemsPath, orNull, responseScope } from './page-templates.ts';

/** docs/specification/limits.md#sizes */
const MAX_RESULT_BYTES = 1024 * 1024;
/** The maximum size of a result without its items, its headers and the URL of the next page. */
const OTHER_FIELDS_BYTES = 200;

/** The items of all pages. `more`: some pages were not read, starting at the URL `next`. */
type PagesResult = {
  status: number;
  headers: Record<string, string>;
  items: JsonValue[];
  pages: number;
  more: boolean;
  next?: string;
};

/** `note` is for the step's log: why the following pages were not read. */
export type Pages = { kind: 'pages'; pages: PagesResult; note?: string };

/**
 * Sends a request and the requests for the pages after it, and returns the items of all pages. A page of another origin
 * is refused, because it would get the headers of the step. A page that repeats causes a failure instead of an endless
 * loop. A page whose items do not fit in the result is left out, and nothing is lost: the result contains the URL at
 * which to continue.
 */
export async function requestPages(
  requester: HttpRequester,
  first: HttpCall,
  pagination: Pagination,
  on: { signal: AbortSignal },
): Promise<Pages | HttpFailed> {
  const { max_pages: maxPages = MAX_PAGES } = pagination;
  const list = new ItemList(pagination.items);
  const order = new PageOrder(pagination);
  const visited = new Set<string>();
  let url = order.first(new URL(first.url));
  let before: HttpResponse | null = null;
  for (;;) {
    visited.add(url.href);
    const answer: HttpAnswer = await requester.send({ ...first, url: url.href }, on);
    if (answer.kind === 'failed') return answer;
    const { response } = answer;
    const items = list.itemsOf(response);
    if (!Array.isArray(items)) return items;
    if (!list.add(items, response)) return before === null ? pageTooLarge() : full(list, before, url);
    const next = order.next({ response, items, url });
    if (next !== null && 'kind' in next) return next;
    if (next !== null && visited.has(next.href)) {
      return failed('pagination_loop', `Page ${visited.size} leads to a page that was read already.`);
    }
    if (next === null || visited.size === maxPages) return { kind: 'pages', pages: list.result(response, next) };
    url = next;
    before = response;
  }
}

/** The items of all pages so far. */
class ItemList {
  readonly #items: JsonValue[] = [];
  readonly #path: ReturnType<typeof itemsPath>;
  readonly #name: string;
  #bytes = 0;
  #pages = 0;

  constructor(items: string | undefined) {
    this.#path = itemsPath(items);
    this.#name = items === undefined ? 'the body' : `body.${items}`;
  }

  /** Returns the list of a page. */
  itemsOf({ body, encoding }: HttpResponse): JsonValue[] | HttpFailed {
    const found = this.#path === null || encoding !== undefined ? null : orNull(this.#path, responseScope({ body }));
    if (Array.isArray(found)) return found;
    return failed('pagination_items_missing', `There is no list at ${this.#name} of the response.`);
  }

  /** Adds the items, or returns false if they do not fit in the result together with the headers of their page. */
  add(items: JsonValue[], { headers }: HttpResponse): boolean {
    const bytes = this.#bytes + Buffer.byteLength(JSON.stringify(items));
    const others = Buffer.byteLength(JSON.stringify(headers)) + OTHER_FIELDS_BYTES;
    if (bytes + others + MAX_NEXT_BYTES > MAX_RESULT_BYTES) return false;
    this.#bytes = bytes;
    this.#pages++;
    for (const item of items) this.#items.push(item);
    return true;
  }

  result({ status, headers }: HttpResponse, next: URL | null): PagesResult {
    const more = next === null ? { more: false } : { more: true, next: next.href };
    return { status, headers, items: this.#items, pages: this.#pages, ...more };
  }
}

/** The maximum size of a URL as JSON. URLs of steps are shorter than 8 KiB. */
const MAX_NEXT_BYTES = 9 * 1024;

function pageTooLarge(): HttpFailed {
  return failed('response_too_large', 'The items of the first page are larger than 1 MiB of JSON.');
}

function full(list: ItemList, last: HttpResponse, next: URL): Pages {
  const pages = list.result(last, next);
  const read = `${pages.pages} pages with ${pages.items.length} items`;
  const note = `The items of the next page do not fit in 1 MiB of JSON. ${read} were read; "next" says where to go on.`;
  return { kind: 'pages', pages, note };
}

const failed = (code: string, message: string): HttpFailed => ({ kind: 'failed', code, message, retryable: false });
