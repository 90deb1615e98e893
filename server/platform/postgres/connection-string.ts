import { readFileSync } from 'node:fs';
import pg from 'pg';
import { parseServerList } from './server-list.ts';

const FORM = 'must be a URL such as postgresql://user:password@host:5432/database';
/** Parameters that name a file, which pg reads when it parses the URL. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Returns what is wrong with the URL of a PostgreSQL database, or undefined if pg can use it. The message never repeats
 * the URL, which may contain a password.
 */
export function connectionStringProblem(url: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return FORM;
  if (scheme !== 'postgres' && scheme !== 'postgresql') return `${FORM}, not ${scheme}://`;
  for (const name of FILES) {
    const file = parameter(url, name);
    const problem = file === undefined ? undefined : unreadable(file);
    if (problem !== undefined) return `the file ${file} that ${name} names cannot be read (${problem})`;
  }
  const mode = parameter(url, 'sslmode');
  // pg treats a misspelled one as TLS.
  if (mode !== undefined && !SSL_MODES.includes(mode)) return `its sslmode must be one of ${SSL_MODES.join(', ')}`;
  const list = parseServerList(url);
  if (list !== undefined && 'problem' in list) return list.problem;
  try {
    const { port } = new pg.Client({ connectionString: list?.servers[0]?.url ?? url });
    return Number.isInteger(port) && port > 0 && port < 65_536 ? undefined : FORM;
  } catch {
    return FORM;
  }
}

function parameter(url: string, name: string): string | undefined {
  const query = url.indexOf('?');
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query + 1)).get(name) ?? undefined);
}

function unreadable(file: string): string | undefined {
  try {
    readFileSync(file);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}
