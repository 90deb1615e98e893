import { isObject, type Json } from '@/server/platform/json.ts';
import { parseRequestJson } from '@/server/platform/json-text.ts';
import { type CurlFields, groupPairs } from './curl-fields.ts';
import type { CurlOption } from './curl-options.ts';
import { encodeAround, readPairs } from './templated-text.ts';

type Given = { option: CurlOption; value: string };
type Headers = Map<string, [name: string, value: string]>;

/** The body of a command: the fields of a step, and the data as text, which `-G` appends to the URL. */
export type CurlBody = { fields: CurlFields; data: string; hasBody: boolean };

const DATA: ReadonlySet<CurlOption> = new Set(['data', 'data-raw', 'data-urlencode', 'json']);
export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const JSON_TYPE = 'application/json';

/** Reads the data of a command. Removes the header `Content-Type` if the kind of the body implies it. */
export function readBody(given: readonly Given[], headers: Headers, notices: string[]): CurlBody {
  const parts = given.filter(({ option }) => option === 'form' || option === 'form-string');
  if (parts.length > 0) {
    headers.delete('content-type');
    const multipart = parts.flatMap(each => readPart(each, notices));
    return { fields: multipart.length > 0 ? { multipart } : {}, data: '', hasBody: true };
  }
  const texts = given.filter(({ option }) => DATA.has(option));
  if (texts.length === 0) return { fields: {}, data: '', hasBody: false };
  const isJson = texts.some(({ option }) => option === 'json');
  const data = texts.map(each => readData(each, notices)).join(isJson ? '' : '&');
  return { fields: bodyOf(data, isJson, headers, notices), data, hasBody: true };
}

function readData({ option, value }: Given, notices: string[]): string {
  if (option === 'data-raw') return value;
  if (option !== 'data-urlencode') return value.startsWith('@') ? missingFile(value.slice(1), notices) : value;
  const at = value.search(/[=@]/);
  if (at === -1) return encodeAround(value);
  const name = value.slice(0, at);
  const content = value[at] === '@' ? missingFile(value.slice(at + 1), notices) : value.slice(at + 1);
  return name === '' ? encodeAround(content) : `${name}=${encodeAround(content)}`;
}

function missingFile(path: string, notices: string[]): string {
  notices.push(`The content of the file ${path} is not known here.`);
  return '';
}

function bodyOf(data: string, isJson: boolean, headers: Headers, notices: string[]): CurlFields {
  const given = headers.get('content-type')?.[1];
  const type = given ?? (isJson ? JSON_TYPE : FORM_TYPE);
  const dropImpliedType = (usual: string) => {
    if (type === usual) headers.delete('content-type');
  };
  if (/^application\/(?:json|[\w.+-]*\+json)\b/i.test(type)) {
    const body = parseJson(data);
    if (body === undefined) return textOf(data, type, headers);
    dropImpliedType(JSON_TYPE);
    return { body };
  }
  if (type.toLowerCase() === FORM_TYPE) {
    const pairs = readPairs(data);
    if (pairs !== null) {
      headers.delete('content-type');
      return { form: groupPairs(pairs) ?? {} };
    }
    const body = given === undefined ? parseJson(data) : undefined;
    if (isObject(body as Json) || Array.isArray(body)) {
      notices.push('The data is JSON, so that it is sent as JSON.');
      return { body };
    }
  }
  dropImpliedType(TEXT_TYPE);
  return type === TEXT_TYPE ? { text: data } : textOf(data, type, headers);
}

function textOf(text: string, type: string, headers: Headers): CurlFields {
  if (!headers.has('content-type')) headers.set('content-type', ['Content-Type', type]);
  return { text };
}

function parseJson(text: string): Json | undefined {
  try {
    return parseRequestJson(text);
  } catch {
    return undefined;
  }
}

/** Reads `name=content;type=…;filename=…`, `name=@file` and `name=<file`. */
function readPart({ option, value }: Given, notices: string[]): Json[] {
  const at = value.indexOf('=');
  const name = at === -1 ? '' : value.slice(0, at);
  if (name === '') {
    notices.push(`This is no part of a form: ${value.slice(0, 60)}`);
    return [];
  }
  const content = value.slice(at + 1);
  if (option === 'form-string') return [{ name, value: content }];
  const isFile = content.startsWith('@');
  const reads = isFile || content.startsWith('<');
  const [given = '', ...attributes] = splitAttributes(reads ? content.slice(1) : content);
  const part: Record<string, Json> = { name, value: reads ? missingFile(given, notices) : given };
  if (isFile) part.filename = given.split(/[/\\]/).at(-1) || name;
  for (const attribute of attributes) {
    const [, key = '', text = ''] = /^\s*(\w+)=([\s\S]*)$/.exec(attribute) ?? [];
    if (key === 'type' && text !== '') part.content_type = text;
    else if (key === 'filename' && text !== '') part.filename = text;
    else notices.push(`Not used in the part ${name}: ${attribute.trim().slice(0, 60)}`);
  }
  return [part];
}

/** Splits at semicolons outside of quotes, and unquotes: `"a;\"b"`. A media type contains parameters. */
function splitAttributes(text: string): string[] {
  const parts: string[] = [];
  for (const part of splitUnquoted(text)) {
    const last = parts.at(-1);
    const isOfType =
      last !== undefined && /^\s*type=/.test(last) && !/^\s*(?:filename|type|encoder|headers)=/.test(part);
    if (isOfType) parts[parts.length - 1] = `${last};${part}`;
    else parts.push(part);
  }
  return parts.map((part, index) => {
    const [, key = '', quoted] = /^(\s*\w+=)?"((?:[^"\\]|\\.)*)"$/s.exec(part) ?? [];
    return quoted === undefined || (index === 0 && key !== '') ? part : key + quoted.replace(/\\(["\\])/g, '$1');
  });
}

function splitUnquoted(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    // Quotes have a meaning only at the start of a value.
    const [part = ''] = /^(?:\s*\w+=)?(?:"(?:[^"\\]|\\.)*")?[^;]*/s.exec(rest) ?? [];
    parts.push(part);
    if (part.length === rest.length) return parts;
    rest = rest.slice(part.length + 1);
  }
}
