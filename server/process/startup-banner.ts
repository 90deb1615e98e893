import type { SeededOwner } from '../domains/identity/bootstrap.ts';
import type { Config } from '../operation/config.ts';

/**
 * The text for the operator once the service is up: its address, and at the first start the credentials. Secrets are
 * shown this one time and go to standard output alone, never to the log. `movedTo` is a data folder other than the
 * configured one.
 */
export function startupBanner(url: string, owner: SeededOwner, movedTo?: string, notice?: string | null): string {
  const lines = ['', `  Baton is ready at ${url}`];
  if (notice) lines.push(`  ${notice}`);
  // An operator does not look there first, so every start prints it.
  if (movedTo !== undefined) lines.push(`  Its data is in ${movedTo}`);
  if (owner.created) {
    lines.push('', `  Sign in      ${url}/sign-in`, `  Email        ${owner.email}`);
    if (owner.password !== undefined) lines.push(`  Password     ${owner.password}`);
    if (owner.pat !== undefined) lines.push(`  API token    ${owner.pat}`);
    const secret = owner.password !== undefined || owner.pat !== undefined;
    if (secret) lines.push('', '  These are shown this once: keep them, and change the password under Settings.');
  } else if (owner.setupToken !== undefined) {
    lines.push('', `  Set up the first account at ${url}/setup`, `  Set-up token ${owner.setupToken}`);
  }
  return `${lines.join('\n')}\n\n`;
}

/**
 * Returns a notice for the operator if a proxy is in front and no proxy is trusted, or null. Baton itself speaks http on its own
 * port, so another port in the public URL, or https, is a proxy's.
 */
export function proxyNotice({
  url,
  port,
  trustedProxies,
}: Pick<Config['http'], 'url' | 'port' | 'trustedProxies'>): string | null {
  const shown = new URL(url);
  const direct = shown.protocol === 'http:' && Number(shown.port || 80) === port;
  if (direct || trustedProxies > 0) return null;
  return 'BATON_URL is a proxy’s, and BATON_TRUSTED_PROXIES is not set: for every limit, all clients count as one address.';
}
