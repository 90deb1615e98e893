import { namesCredential } from '@/server/orchestrator/steps/credential-words.ts';
import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { isSecretHeader, isSecretParameter } from './credentials.ts';
import { JSON_TYPE, TEXT_TYPE } from './read-body.ts';
import { encodeAround, holdsTemplate, readPairs } from './templated-text.ts';

/** A step as a curl command. `left` lists the omitted parts, such as secrets. */
export type CurlCommand = { text: string; left: string[] };

/** Quotes a word for sh: no character has a special meaning within single quotes. */
export const quoteWord = (word: string): string =>
  /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Writes a step as a curl command for sh. Templates stay unchanged; secrets are omitted. */
export function writeCurl(step: { readonly [field: string]: unknown }): CurlCommand {
  const left: string[] = [];
  const headers = isObject(step.headers as Json) ? (step.headers as JsonObject) : {};
  const body = bodyOf(step, left);
  const url = addressOf(step, left);
  const lines = [['curl', ...methodOf(step, body.length > 0), ...settingsOf(step, url), url]];
  const sent = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) continue;
    const text = textOf(value);
    if (isSecretHeader(name, text)) left.push(`the header ${name}`);
    else lines.push(['-H', text === '' ? `${name};` : `${name}: ${text}`]);
    sent.add(name.toLowerCase());
  }
  const type = impliedType(step);
  if (type !== null && !sent.has('content-type')) lines.push(['-H', `Content-Type: ${type}`]);
  if (step.connection_id !== undefined) left.push('the credentials of the connection');
  return { text: [...lines, ...body].map(words => words.map(quoteWord).join(' ')).join(' \\\n  '), left };
}

function impliedType({ body, form, text, multipart }: { readonly [field: string]: unknown }): string | null {
  if (body !== undefined) return JSON_TYPE;
  return form === undefined && text !== undefined && multipart === undefined ? TEXT_TYPE : null;
}

function methodOf({ method = 'GET' }: { readonly [field: string]: unknown }, hasBody: boolean): string[] {
  if (method === 'HEAD') return ['--head'];
  return method === 'GET' && !hasBody ? [] : ['-X', String(method)];
}

function settingsOf(step: { readonly [field: string]: unknown }, url: string): string[] {
  const { follow_redirects: follows, timeout_s: timeout, retry_count: retries } = step;
  return [
    follows === false ? '--no-location' : '-L',
    // curl reads braces and brackets in a URL as patterns.
    ...(/[{}[\]]/.test(url) ? ['-g'] : []),
    ...(typeof timeout === 'number' ? ['--max-time', String(timeout)] : []),
    ...(typeof retries === 'number' && retries > 0 ? ['--retry', String(retries)] : []),
  ];
}

const pairsOf = (parameters: JsonObject): [string, string][] =>
  Object.entries(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((each): [string, string][] =>
      each === null ? [] : [[name, textOf(each)]],
    ),
  );

function addressOf({ url, query }: { readonly [field: string]: unknown }, left: string[]): string {
  const given = String(url ?? '').replace(/#[^{}]*$/, '');
  const [base = '', ...rest] = given.split('?');
  const inUrl = rest.join('?');
  const own = readPairs(inUrl)?.some(([name, value]) => isSecretParameter(name, value)) ? readPairs(inUrl) : null;
  const kept = own === null && inUrl !== '' ? [inUrl] : [];
  const added = [...(own ?? []), ...(isObject(query as Json) ? pairsOf(query as JsonObject) : [])].flatMap(
    ([name, value]) => {
      if (!isSecretParameter(name, value)) return [`${encodeAround(name)}=${encodeAround(value)}`];
      left.push(`the parameter ${name}`);
      return [];
    },
  );
  const address = base.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@{}]*@/i, '$1');
  const parameters = [...kept, ...added].join('&');
  return parameters === '' ? address : `${address}?${parameters}`;
}

function bodyOf(step: { readonly [field: string]: unknown }, left: string[]): string[][] {
  const { body, form, text, multipart } = step as { readonly [field: string]: Json | undefined };
  if (body !== undefined) return [['--data-raw', JSON.stringify(withoutSecrets(body, left))]];
  if (isObject(form as Json)) {
    const pairs = pairsOf(form as JsonObject);
    if (pairs.length === 0) return [['--data-raw', '']];
    return pairs.flatMap(([name, value]) => {
      if (!isSecretParameter(name, value)) return [['--data-urlencode', `${encodeAround(name)}=${value}`]];
      left.push(`the field ${name}`);
      return [];
    });
  }
  if (typeof text === 'string') return [['--data-raw', text]];
  return Array.isArray(multipart) ? multipart.flatMap(part => (isObject(part) ? [partOf(part, left)] : [])) : [];
}

function partOf({ name, value = '', filename, content_type, encoding }: JsonObject, left: string[]): string[] {
  const isBytes = encoding === 'base64';
  if (isBytes) left.push(`the content of the file ${String(filename ?? name)}`);
  const isSecret = typeof name === 'string' && isSecretParameter(name, textOf(value));
  if (isSecret) left.push(`the field ${name}`);
  const text = isBytes || isSecret ? '' : textOf(value);
  const attributes = [
    ...(typeof content_type === 'string' ? [`;type=${content_type}`] : []),
    ...(typeof filename === 'string' ? [`;filename=${quotedPart(filename, true)}`] : []),
  ];
  return ['-F', `${String(name)}=${quotedPart(text)}${attributes.join('')}`];
}

/** Quotes a value for -F if curl would read it as a file, a separator or a quote. */
const quotedPart = (text: string, always = false): string =>
  always || /^[@<\s]|[;"\\,]|\s$/.test(text) ? `"${text.replace(/[\\"]/g, String.raw`\$&`)}"` : text;

/** Returns JSON with an empty text for each key that names a secret. */
function withoutSecrets(value: Json, left: string[]): Json {
  if (Array.isArray(value)) return value.map(each => withoutSecrets(each, left));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    if (typeof inner !== 'string' || inner === '' || holdsTemplate(inner) || !namesCredential(key))
      return [key, withoutSecrets(inner, left)];
    left.push(`the field ${key}`);
    return [key, ''];
  });
  return Object.fromEntries(entries);
}
