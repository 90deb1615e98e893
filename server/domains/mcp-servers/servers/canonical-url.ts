import { invalid } from '../../../platform/errors.ts';

const MAX_LENGTH = 2_000;

/**
 * Returns the address of an MCP server in its canonical form. Throws AppError 422 `invalid_url` for text that is
 * not an http(s) URL, contains credentials or a fragment, or is too long: credentials belong in a
 * connection, where they are encrypted.
 */
export function parseCanonicalUrl(text: string): string {
  const url = URL.parse(text.trim());
  const problem = url === null ? 'must be an absolute URL' : whyUnfit(url);
  if (url === null || problem !== null) {
    const path = 'canonical_url';
    throw invalid(
      "The server's address is not valid.",
      [{ path, message: problem ?? '', code: 'invalid_url' }],
      'invalid_url',
    );
  }
  return url.href;
}

function whyUnfit(url: URL): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password; use a connection';
  if (url.hash !== '') return 'must not have a fragment (#…)';
  if (url.hostname === '') return 'must name a host';
  // Normalization may lengthen it: every space becomes three characters.
  if (url.href.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  return null;
}
