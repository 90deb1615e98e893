/** Where to go after signing in: a path of this site, nothing else (an absolute or `//host` address would be an open redirect). */
export function returnPath(next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, 'http://console.internal')) return '/';
  const url = new URL(next, 'http://console.internal');
  return url.origin === 'http://console.internal' ? `${url.pathname}${url.search}${url.hash}` : '/';
}
