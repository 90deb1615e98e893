import {
  basic,
  bearer,
  credentialsOfHeader,
  credentialsOfParameter,
  type FoundCredentials,
  isSecretHeader,
  isSecretParameter,
  secretNames,
} from './credentials.ts';
import { type CurlFields, groupPairs } from './curl-fields.ts';
import { type CurlArgument, type CurlOption, readArguments } from './curl-options.ts';
import { readBody } from './read-body.ts';
import { splitCommand } from './shell-words.ts';
import { readPairs } from './templated-text.ts';

export type CurlRequest = {
  fields: CurlFields;
  /** Notices for the user who pastes: unsupported options, files, shell variables. */
  notices: string[];
  credentials: FoundCredentials[];
};

/** Returns whether a text is a curl command, such as one copied from a browser. */
export const isCurl = (text: string): boolean => /^\s*(?:\$\s+)?curl(?:\.exe)?(?=[\s\\^])/.test(text);

/** Parses a curl command as a request; returns a problem if the command is invalid. */
export function readCurl(text: string): CurlRequest | { problem: string } {
  const split = splitCommand(text.trim().replace(/^\$\s+/, ''));
  if ('problem' in split) return split;
  const [program, ...words] = split.words;
  if (program !== 'curl' && program !== 'curl.exe') return { problem: 'This is not a curl command.' };
  const reader = new CurlReader(readArguments(words));
  if (split.variables.length > 0)
    reader.notices.push(`Variables of the shell are kept as text: ${split.variables.join(', ')}`);
  return reader.read();
}

const RESERVED =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

class CurlReader {
  readonly notices: string[] = [];
  readonly #arguments: readonly CurlArgument[];
  readonly #credentials: FoundCredentials[] = [];
  readonly #headers = new Map<string, [name: string, value: string]>();
  readonly #query: [string, string][] = [];

  constructor(args: readonly CurlArgument[]) {
    this.#arguments = args;
  }

  #values(...options: CurlOption[]): string[] {
    return this.#arguments.flatMap(each =>
      each.kind === 'option' && options.includes(each.option) ? [each.value] : [],
    );
  }
  #has(option: CurlOption): boolean {
    return this.#values(option).length > 0;
  }

  read(): CurlRequest | { problem: string } {
    const args = this.#url();
    if (args === undefined) return { problem: 'The command has no URL.' };
    this.#readHeaders();
    const data = this.#arguments.flatMap(each => (each.kind === 'option' ? [each] : []));
    const body = readBody(data, this.#headers, this.notices);
    const url = this.#address(args, this.#has('get') ? body.data : '');
    const fields: CurlFields = { ...this.#method(body.hasBody), url, ...this.#settings() };
    const query = groupPairs(this.#query);
    if (query !== null) fields.query = query;
    if (!this.#has('get') && fields.method !== 'HEAD') Object.assign(fields, body.fields);
    if (this.#headers.size > 0) fields.headers = Object.fromEntries(this.#headers.values());
    this.#notice(fields);
    return { fields, notices: this.notices, credentials: this.#credentials };
  }

  /** The first URL with a scheme: the value of an unknown option may precede it. */
  #url(): string | undefined {
    const urls = this.#arguments.flatMap(each => {
      if (each.kind === 'url') return [each.url];
      return each.kind === 'option' && each.option === 'url' ? [each.value] : [];
    });
    const chosen = urls.find(url => HAS_SCHEME.test(url) || url.startsWith('{{')) ?? urls[0];
    const others = urls.length - 1;
    if (others > 0) this.notices.push('Only the first URL is used.');
    return chosen === undefined || HAS_SCHEME.test(chosen) || chosen.startsWith('{{') ? chosen : `http://${chosen}`;
  }

  #readHeaders(): void {
    const add = (name: string, value: string) => {
      if (isSecretHeader(name, value)) return void this.#credentials.push(credentialsOfHeader(name, value));
      const key = name.toLowerCase();
      const known = this.#headers.get(key);
      this.#headers.set(key, known ? [known[0], `${known[1]}, ${value}`] : [name, value]);
    };
    for (const each of this.#arguments) {
      if (each.kind !== 'option') continue;
      const { option, value } = each;
      if (option === 'header') this.#readHeader(value, add);
      else if (option === 'user-agent') add('User-Agent', value);
      else if (option === 'referer') add('Referer', value.replace(/;auto$/, ''));
      else if (option === 'cookie' && value.includes('=')) add('Cookie', value);
      else if (option === 'cookie') this.notices.push(`The cookies in the file ${value} are not known here.`);
      else if (option === 'user') this.#credentials.push(basic(value));
      else if (option === 'oauth2-bearer') this.#credentials.push(bearer(value));
    }
  }

  #readHeader(line: string, add: (name: string, value: string) => void): void {
    const [, name = '', sign, rest = ''] = /^([^:;]*)([:;])([\s\S]*)$/.exec(line) ?? [];
    const value = rest.trim();
    const trimmed = name.trim();
    if (line.startsWith('@')) this.notices.push(`The headers in the file ${line.slice(1)} are not known here.`);
    else if (trimmed === '' || (sign === ';' && value !== ''))
      this.notices.push(`This is no header: ${line.slice(0, 60)}`);
    else if (RESERVED.test(trimmed)) this.notices.push(`The request sets the header ${trimmed} itself.`);
    // `Name:` removes a header, and `Name;` sends it without a value.
    else if (value !== '' || sign === ';') add(trimmed, value);
  }

  /** Moves parameters that parse as pairs out of the URL, and always removes credentials from it. */
  #address(args: string, data: string): string {
    const url = this.#withoutUser(args.replace(/#[^{}]*$/, ''));
    const [base = '', ...rest] = url.split('?');
    const inUrl = rest.join('?');
    const parts = [inUrl, data].filter(part => part !== '').join('&');
    const pairs = readPairs(parts);
    const added = this.#values('url-query').map(each => /^\+?([^=]*)=([\s\S]*)$/.exec(each)?.slice(1) ?? ['', each]);
    for (const [name = '', value = ''] of [...(pairs ?? []), ...added]) {
      if (name === '') this.notices.push(`This is no parameter: ${value.slice(0, 60)}`);
      else if (isSecretParameter(name, value)) this.#credentials.push(credentialsOfParameter(name, value));
      else this.#query.push([name, value]);
    }
    return pairs === null ? `${base}?${parts}` : base;
  }

  #withoutUser(url: string): string {
    const [, scheme = '', user, rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#@{}]*)@([\s\S]*)$/i.exec(url) ?? [];
    if (user === undefined) return url;
    const decoded = user.split(':').map(part => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    this.#credentials.push(basic(decoded.join(':')));
    return scheme + rest;
  }

  #method(hasBody: boolean): CurlFields {
    const args = this.#values('request').at(-1);
    const sendsBody = hasBody && !this.#has('get');
    const method = args ?? (this.#has('head') ? 'HEAD' : sendsBody ? 'POST' : 'GET');
    const known = method.includes('{{') ? method : method.toUpperCase();
    if (known === 'GET') return sendsBody ? { body_with_get: true } : {};
    return { method: known };
  }

  #settings(): CurlFields {
    const seconds = Number(this.#values('max-time').at(-1));
    const retries = Number(this.#values('retry').at(-1));
    return {
      ...(this.#has('no-location') ? { follow_redirects: false } : {}),
      ...(seconds > 0 && Number.isFinite(seconds) ? { timeout_s: Math.ceil(seconds) } : {}),
      ...(Number.isInteger(retries) && retries > 0 ? { retry_count: retries } : {}),
    };
  }

  #notice({ body, form }: CurlFields): void {
    const secrets = [...secretNames(body), ...secretNames(form)];
    if (secrets.length > 0)
      this.notices.push(
        `The body has what looks like a secret, which everyone with access can read: ${secrets.join(', ')}`,
      );
    const unread = [...new Set(this.#arguments.flatMap(each => (each.kind === 'unread' ? [each.name] : [])))];
    if (unread.length > 0) this.notices.push(`Not used: ${unread.join(', ')}`);
    if (this.#has('insecure')) this.notices.push('Certificates are always checked (-k).');
  }
}
