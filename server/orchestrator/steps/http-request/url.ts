import { resolve, type TemplateScope } from '../../languages/rendering.ts';
import { hasTemplate, parseTemplate, type Template, TemplateSyntaxError } from '../../languages/templates.ts';
import { InvalidStep } from '../common-fields.ts';
import { MAX_URL_LENGTH } from './page-fields.ts';

/**
 * Renders the URL of a request. At the beginning of the URL, where an address may come from a template, a value is
 * inserted unchanged. Everywhere else it is percent-encoded, so that input can change neither the path nor the
 * parameters around it. Throws TemplateUnresolved and InvalidStep.
 */
export function renderUrl({ parts }: Template, field: string, scope: TemplateScope): string {
  let url = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      url += part;
    } else {
      const value = resolve(part, scope);
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      url += url === '' ? text : encodeURIComponent(text.toWellFormed());
    }
    if (url.length > MAX_URL_LENGTH) {
      throw new InvalidStep(`${field}: is longer than ${MAX_URL_LENGTH} characters once rendered`);
    }
  }
  if (hasDotSegment(url)) throw new InvalidStep(`${field}: holds "." or ".." as a segment of its path once rendered`);
  return url;
}

/** Returns the rendered and parsed URL of a step. Throws TemplateSyntaxError, TemplateUnresolved and InvalidStep. */
export function urlOf(text: string, scope: TemplateScope): URL {
  const rendered = hasTemplate(text) ? renderUrl(parseTemplate(text), 'url', scope) : text;
  const problem = urlProblem(rendered);
  if (problem !== null) throw new InvalidStep(`url: ${problem}`);
  return withoutFragment(new URL(rendered));
}

/** Returns the URL without its fragment, which is never sent. */
export function withoutFragment(url: URL): URL {
  url.hash = '';
  return url;
}

/** Returns why a text is not a URL that can be called; null if it is one. */
export function urlProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return 'is not a URL with a scheme and a host, such as https://api.example.com/orders';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials: use connection_id';
  return null;
}

/** Returns the problem of a URL that holds for all values of its templates; null if it has none. */
export function templatedUrlProblem(text: string): string | null {
  if (!hasTemplate(text)) return urlProblem(text);
  const parts = partsOf(text);
  // A URL that begins with a template can become any URL. A digit is valid in a host, a port, a path and a query.
  if (parts === null || typeof parts[0] !== 'string') return null;
  return urlProblem(parts.map(part => (typeof part === 'string' ? part : '1')).join(''));
}

/** Returns the URL up to its path if no template can change its origin; null otherwise. */
export function fixedOrigin(text: string): string | null {
  if (!hasTemplate(text)) return urlProblem(text) === null ? text : null;
  const first = partsOf(text)?.[0];
  if (typeof first !== 'string') return null;
  const origin = /^https?:\/\/[^/?#\\]+(?=[/?#])/i.exec(first)?.[0];
  return origin !== undefined && urlProblem(origin) === null ? origin : null;
}

/**
 * Returns the text before a template that can change the host or the port of a URL, such as `https://api.example.com`
 * if a `/` is missing; empty for a URL that begins with a template; null if host and port are fixed.
 */
export function beforeTemplateInHost(text: string): string | null {
  const [first, second] = hasTemplate(text) ? (partsOf(text) ?? []) : [];
  if (first !== undefined && typeof first !== 'string') return '';
  return second !== undefined && first !== undefined && /^https?:[/\\]*[^/?#\\]*$/i.test(first) ? first : null;
}

/** Returns null for a malformed template, which the validation of all templates reports. */
function partsOf(text: string): Template['parts'] | null {
  try {
    return parseTemplate(text).parts;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null;
    throw error;
  }
}

/** Whether a URL has dot segments. Parsing the URL removes them, and the segments before them. */
function hasDotSegment(url: string): boolean {
  const [path = ''] = url.split(/[?#]/, 1);
  return path.split(/[/\\]/).some(segment => /^(\.|%2e){1,2}$/i.test(segment));
}
