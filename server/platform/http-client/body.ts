import type { Json } from '../json.ts';
import { JsonNumberError, parseJson } from '../json-text.ts';

/** The content of a response: JSON, text, or other bytes as base64. */
export type ReadBody = { body: Json; encoding?: 'base64' };

/** How a response is read; `auto` decides by its content type and its bytes. */
export const READ_MODES = ['auto', 'json', 'text', 'bytes'] as const;
export type ReadMode = (typeof READ_MODES)[number];

const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;
/** Types whose bytes are decoded by their charset. All others are text only if they are UTF-8. */
const TEXT_TYPE =
  /^text\/|[/+](?:xml|yaml)$|^application\/(?:javascript|x-www-form-urlencoded|graphql|x-ndjson|jsonl|toml|sql)$/;

/** A body that cannot be read as its content type or its step requires. */
export class BodyMalformed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BodyMalformed';
  }
}

/**
 * Reads the bytes of a response (docs/specification/steps.md#bodies-of-responses). An empty body is null. Throws BodyMalformed
 * for a body that should be JSON or text and is not.
 */
export function readBody(bytes: Uint8Array, contentType: string | null, mode: ReadMode = 'auto'): ReadBody {
  if (bytes.byteLength === 0) return { body: null };
  const media = mediaOf(contentType);
  switch (mode) {
    case 'auto':
      return readByType(bytes, media);
    case 'json':
      return { body: parse(decode(bytes, media.charset), 'is not JSON, though its step reads it as JSON') };
    case 'text':
      return { body: textIn(bytes, media) };
    case 'bytes':
      return asBase64(bytes);
  }
}

/** Returns bytes as text, for messages: bytes that cannot be decoded are replaced. */
export function excerptOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '').replace(/\s+/g, ' ').trim();
}

/** Returns the text of bytes that may end within a character; null if they are not text in their charset. */
export function beginningOf(bytes: Uint8Array, contentType: string | null): string | null {
  if (bytes.byteLength === 0) return null;
  const { charset } = mediaOf(contentType);
  for (const label of [charsetOfMark(bytes) ?? charset ?? 'utf-8', 'utf-8']) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true }).replaceAll('\0', '');
    } catch {
      // The charset is unknown, or the bytes are invalid in it.
    }
  }
  return null;
}

function readByType(bytes: Uint8Array, { type, charset }: Media): ReadBody {
  if (JSON_TYPE.test(type)) {
    return { body: parse(decode(bytes, charset), 'is not JSON, though its content type is') };
  }
  const declared = TEXT_TYPE.test(type) ? decode(bytes, charset) : null;
  const text = declared ?? decodeUtf8(bytes);
  // PostgreSQL stores no NUL in text.
  return text === null || text.includes('\0') ? asBase64(bytes) : { body: text };
}

function textIn(bytes: Uint8Array, { charset }: Media): string {
  const text = decode(bytes, charset) ?? decodeUtf8(bytes);
  if (text === null) throw new BodyMalformed(`is not text in ${charset ?? 'UTF-8'}, though its step reads it as text`);
  if (text.includes('\0')) throw new BodyMalformed('holds NUL characters, though its step reads it as text');
  return text;
}

const asBase64 = (bytes: Uint8Array): ReadBody => ({
  body: Buffer.from(bytes).toString('base64'),
  encoding: 'base64',
});

/** The only place where the JSON of a response is parsed. */
function parse(text: string | null, problem: string): Json {
  if (text === null) throw new BodyMalformed(`${problem}: it is not text in its charset`);
  try {
    return parseJson(text);
  } catch (error) {
    throw new BodyMalformed(error instanceof JsonNumberError ? `${problem}: ${error.message}` : problem);
  }
}

type Media = { type: string; charset: string | undefined };

/**
 * Returns the media type of a `Content-Type` (Fetch standard, "extract a MIME type"). Several headers arrive as a list: the last
 * valid type counts, and it keeps the charset of an earlier entry of the same type. No header means text.
 */
function mediaOf(contentType: string | null): Media {
  let media: Media = { type: contentType === null ? 'text/plain' : '', charset: undefined };
  for (const member of membersOf(contentType ?? '')) {
    const type = /^\s*([^\s;,/]+\/[^\s;,/]+)\s*(?:;|$)/.exec(member)?.[1]?.toLowerCase();
    if (type === undefined || type === '*/*') continue;
    const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(member)?.[1];
    media = { type, charset: charset ?? (type === media.type ? media.charset : undefined) };
  }
  return media;
}

/** Splits a header that is a list; a quoted string may contain commas (RFC 9110, 5.6.1). Most have one member. */
const membersOf = (list: string): readonly string[] =>
  list.includes(',') ? (list.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []) : [list];

/** Decodes bytes by a charset (default UTF-8). Returns null for invalid bytes and for an unknown charset. */
function decode(bytes: Uint8Array, charset: string | undefined): string | null {
  return decodeAs(bytes, charsetOfMark(bytes) ?? charset ?? 'utf-8');
}

const decodeUtf8 = (bytes: Uint8Array) => decodeAs(bytes, 'utf-8');

function decodeAs(bytes: Uint8Array, charset: string): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Returns the charset of a byte order mark, which takes precedence over the header (Encoding standard, "decode"). TextDecoder
 * removes the mark.
 */
function charsetOfMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}
