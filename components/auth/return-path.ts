const CONSOLE_ORIGIN = 'http://console.internal';

/**
 * Returns where to go after signing in: a path of this site, or `/` for anything else, which would be an open redirect.
 * Parsed twice, the path must be the same path of the same origin, because a parser resolves dot segments: `/.//host`
 * is a path here, and becomes `//host`, another site, for the next parser.
 */
export function returnPath(next: string | undefined): string {
  if (!next?.startsWith('/')) return '/';
  const path = pathOfConsole(next);
  return path !== null && !path.startsWith('//') && pathOfConsole(path) === path ? path : '/';
}

function pathOfConsole(path: string): string | null {
  if (!URL.canParse(path, CONSOLE_ORIGIN)) return null;
  const url = new URL(path, CONSOLE_ORIGIN);
  return url.origin === CONSOLE_ORIGIN ? `${url.pathname}${url.search}${url.hash}` : null;
}
