import { AppError } from '../../../platform/errors.ts';
import { unsupported } from './media-type.ts';

/** The number of bytes at the start of an XML document in which its declaration names the encoding. */
const DECLARATION_BYTES = 200;

/**
 * Returns the text of a body, without its byte order mark. The mark decides its encoding, then the charset of its
 * Content-Type, then an XML declaration; otherwise it is UTF-8. Frameworks add the charset ISO-8859-1 to text that is
 * UTF-8, so with this charset, bytes that are valid UTF-8 are read as UTF-8. Throws AppError 415 for an unknown
 * charset, 400 for other bytes.
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined): string {
  const encoding = markOf(bytes) ?? encodingOf(charset ?? declaredBy(bytes) ?? 'utf-8');
  const text =
    encoding === 'windows-1252' ? (decodeAs('utf-8', bytes) ?? decodeAs(encoding, bytes)) : decodeAs(encoding, bytes);
  if (text !== null) return text;
  const named = charset === undefined ? ', and its Content-Type names no charset' : '';
  throw new AppError(400, 'malformed_body', `The request body is not ${encoding.toUpperCase()}${named}.`);
}

/** Returns the encoding that a byte order mark shows; TextDecoder removes the mark. */
function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

/** Returns the encoding that an XML declaration names, in a document that begins with one. */
function declaredBy(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== 0x3c) return undefined; // `<`
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, DECLARATION_BYTES));
  return /^<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][\w.:-]{0,39})["']/.exec(start.toString('latin1'))?.[1];
}

/** Returns the standard name of an encoding. Throws AppError 415 for an unknown encoding. */
function encodingOf(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw unsupported('The charset of the request body is not known: send UTF-8.');
  }
}

function decodeAs(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
