import type { Json } from '../json.ts';

/** The content of a response: JSON, text, or other bytes as base64. */
export type ReadBody = { body: Json; encoding?: 'base64' };

const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;
const TEXT_TYPE =
  /^text\/|[/+](?:xml|yaml)$|^application\/(?:javascript|x-www-form-urlencoded|graphql|x-ndjson|jsonl|toml|sql)$/;

/** A body that does not match its content type. */
export class BodyMalformed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BodyMalformed';
  }
}

/**
 * Reads the bytes of a response by its content type: JSON is parsed, text is decoded by its charset (default
 * UTF-8), and everything else is base64, including text that cannot be decoded. An empty body is null. Throws
 * BodyMalformed for invalid JSON.
 */
export function readBody(bytes: Uint8Array, contentType: string | null): ReadBody {
  if (bytes.byteLength === 0) return { body: null };
  const media = (contentType ?? 'text/plain').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isJson = JSON_TYPE.test(media);
  const text = isJson || TEXT_TYPE.test(media) ? decode(bytes, charsetOf(contentType)) : null;
  if (isJson) return { body: parse(text) };
  // PostgreSQL stores no NUL in text.
  if (text !== null && !text.includes('\0')) return { body: text };
  return { body: Buffer.from(bytes).toString('base64'), encoding: 'base64' };
}

/** Returns bytes as text, for messages: bytes that cannot be decoded are replaced. */
export function excerptOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '').replace(/\s+/g, ' ').trim();
}

function parse(text: string | null): Json {
  if (text === null) throw new BodyMalformed('is not text in its charset, though its content type is JSON');
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new BodyMalformed('is not JSON, though its content type is');
  }
}

const charsetOf = (contentType: string | null) =>
  /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(contentType ?? '')?.[1] ?? 'utf-8';

/** Null for bytes that the charset does not have, and for an unknown charset. */
function decode(bytes: Uint8Array, charset: string): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
