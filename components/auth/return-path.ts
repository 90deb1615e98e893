const CONSOLE_ORIGIN = 'http://console.internal';

/**
 * Returns the page to open after signing in: `next` if it is a path of this site, otherwise `/`, because other addresses would make an open
 * redirect. The path is parsed twice and must stay the same path of the same origin: a parser resolves dot segments, so `/.//host` is a
 * path for the first parser, and becomes `//host`, another site, for the next one.
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
