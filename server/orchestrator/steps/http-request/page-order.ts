import type { JsonValue } from '../../core/index.ts';
import { resolve, type TemplateScope, TemplateUnresolved } from '../../languages/rendering.ts';
import { hasTemplate, parseResponseTemplate, type Template } from '../../languages/templates.ts';
import { InvalidStep } from '../common-fields.ts';
import type { HttpFailed, HttpResponse } from './http-requester.ts';
import { MAX_URL_LENGTH, type Pagination } from './page-fields.ts';
import { isNothing, pageScope, readsNextLink } from './page-templates.ts';
import { renderUrl, urlProblem, withoutFragment } from './url.ts';

/** A page that was read, with the items of its list. */
type Page = { response: HttpResponse; items: readonly JsonValue[]; url: URL };

/** Thrown if no page follows. */
class LastPage extends Error {}

/** Thrown if the next page cannot be determined. */
class WrongPage extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Determines the page after a page (docs/specification/steps.md#pages). */
export class PageOrder {
  readonly #pagination: Pagination;
  /** Templates that some page has resolved. If one of them does not resolve on a later page, the pages end. */
  readonly #resolved = new Set<string>();
  #position: number;
  #itemsBefore: string | null = null;

  constructor(pagination: Pagination) {
    this.#pagination = pagination;
    this.#position = pagination.page ? (pagination.page.first ?? 1) : (pagination.offset?.first ?? 0);
  }

  /** Returns the URL of the first page. */
  first(url: URL): URL {
    return this.#isCounted() ? this.#atPosition(url) : url;
  }

  /** Returns the URL of the page after `page`; null after the last one. */
  next(page: Page): URL | HttpFailed | null {
    try {
      const scope = pageScope(page.response, page.items);
      this.#endIfFlagged(page, scope);
      const next = this.#isCounted() ? this.#counted(page, scope) : this.#rendered(page, scope);
      if (next.origin === page.url.origin) return next;
      throw new WrongPage(
        'pagination_origin_refused',
        `The next page is at ${next.origin}, not at ${page.url.origin}.`,
      );
    } catch (error) {
      if (error instanceof LastPage) return null;
      if (error instanceof WrongPage) return failed(error.code, error.message);
      if (error instanceof InvalidStep) return failed('pagination_next_invalid', error.message);
      throw error;
    }
  }

  #isCounted(): boolean {
    return this.#pagination.page !== undefined || this.#pagination.offset !== undefined;
  }

  #atPosition(url: URL): URL {
    const { page, offset } = this.#pagination;
    const next = new URL(url);
    next.searchParams.set((page ?? offset)?.parameter ?? (page ? 'page' : 'offset'), String(this.#position));
    return next;
  }

  #endIfFlagged(page: Page, scope: TemplateScope): void {
    const { has_more: flag } = this.#pagination;
    if (flag === undefined) return;
    const value = this.#valueOf(flag, page, scope);
    if (isNothing(value) || value === 0 || value === 'false' || value === '0') throw new LastPage();
  }

  /**
   * Returns the URL of the next page by its number or offset. A page is the last by `last` or `total`, by its flag, or
   * because it is not full.
   */
  #counted(page: Page, scope: TemplateScope): URL {
    const { page: number, offset, has_more: flag } = this.#pagination;
    const { length } = page.items;
    const size = (number ?? offset)?.size ?? 1;
    // An offset that does not grow would request the same page again.
    if (length === 0 && (flag === undefined || offset !== undefined)) throw new LastPage();
    if (flag === undefined && length < size) throw new LastPage();
    this.#refuseRepetition(page);
    const end = number?.last ?? offset?.total;
    const limit = end === undefined ? Number.POSITIVE_INFINITY : this.#numberOf(end, page, scope);
    if (number && this.#position >= limit) throw new LastPage();
    this.#position += number ? 1 : length;
    if (offset && this.#position >= limit) throw new LastPage();
    return this.#atPosition(page.url);
  }

  /**
   * Refuses a page with the items of the page before: a server that ignores the parameter sends its first page for
   * every number.
   */
  #refuseRepetition({ items }: Page): void {
    const text = JSON.stringify(items);
    if (text === this.#itemsBefore && items.length > 0) {
      throw new WrongPage('pagination_loop', 'A page has the same items as the page before: is the parameter right?');
    }
    this.#itemsBefore = text;
  }

  #numberOf(template: string, page: Page, scope: TemplateScope): number {
    const value = this.#valueOf(template, page, scope);
    const number = value === null || value === '' || typeof value === 'boolean' ? Number.NaN : Number(value);
    if (!Number.isNaN(number)) return number;
    throw new WrongPage('pagination_next_invalid', `${template} is no number.`);
  }

  #rendered(page: Page, scope: TemplateScope): URL {
    const { next, query = {} } = this.#pagination;
    if (next === undefined) return this.#withQuery(query, page, scope);
    const template = parseResponseTemplate(next);
    this.#requireValues(template, page, scope);
    const url = URL.parse(renderUrl(template, 'pagination.next', scope), page.url);
    if (url !== null && urlProblem(url.href) === null) return withoutFragment(url);
    throw new WrongPage('pagination_next_invalid', 'The address of the next page is not an http or https URL.');
  }

  /** Replaces parameters in the current page's URL, and keeps the others. */
  #withQuery(query: NonNullable<Pagination['query']>, page: Page, scope: TemplateScope): URL {
    const next = new URL(page.url);
    for (const [name, value] of Object.entries(query)) {
      next.searchParams.delete(name);
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== null) next.searchParams.append(name, this.#textOf(each, page, scope));
      }
    }
    if (next.href.length > MAX_URL_LENGTH) {
      throw new InvalidStep(`pagination.query: the URL is longer than ${MAX_URL_LENGTH} characters`);
    }
    return next;
  }

  #textOf(value: JsonValue, page: Page, scope: TemplateScope): string {
    if (typeof value !== 'string') return JSON.stringify(value);
    if (!hasTemplate(value)) return value;
    const template = parseResponseTemplate(value);
    this.#requireValues(template, page, scope);
    const texts = template.parts.map(part => {
      const found = typeof part === 'string' ? part : resolve(part, scope);
      return typeof found === 'string' ? found : JSON.stringify(found);
    });
    return texts.join('');
  }

  #valueOf(text: string, page: Page, scope: TemplateScope): JsonValue {
    const { whole } = parseResponseTemplate(text);
    return whole === null ? null : this.#resolve(whole, page, scope);
  }

  /** Ends the pages if a template has no value. */
  #requireValues({ parts }: Template, page: Page, scope: TemplateScope): void {
    for (const part of parts) {
      if (typeof part !== 'string' && isNothing(this.#resolve(part, page, scope))) throw new LastPage();
    }
  }

  /**
   * Resolves a reference. A path that no page has resolved so far is a mistake, such as a wrong name, and not the end:
   * the items of all other pages would be missing. Exceptions: no page follows an empty page, and the last page of RFC
   * 8288 has no link.
   */
  #resolve(reference: Exclude<Template['parts'][number], string>, page: Page, scope: TemplateScope): JsonValue {
    const { text } = reference;
    try {
      const value = resolve(reference, scope);
      this.#resolved.add(text);
      return value;
    } catch (error) {
      if (!(error instanceof TemplateUnresolved)) throw error;
      if (page.items.length === 0 || this.#resolved.has(text) || readsNextLink(reference)) throw new LastPage();
      const advice = `If the last page does not have it, write {{${text} ?? null}}.`;
      throw new WrongPage('pagination_unresolved', `${error.message} ${advice}`);
    }
  }
}

const failed = (code: string, message: string): HttpFailed => ({ kind: 'failed', code, message, retryable: false });
