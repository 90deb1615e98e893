/**
 * Reads base64 and base64url (RFC 4648, 4 and 5), with or without padding, and with line breaks as mail has them. Returns null
 * for any other text.
 */
export function decodeBase64(text: string): Buffer | null {
  const packed = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  const digits = packed.replace(/={1,2}$/, '');
  const isPadded = digits.length !== packed.length;
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1 || (isPadded && packed.length % 4 !== 0))
    return null;
  return Buffer.from(digits, 'base64');
}

/** Reads hexadecimal digits of either case. Returns null for a text with any other character, or with half a byte. */
export function decodeHex(text: string): Buffer | null {
  return text.length % 2 === 0 && /^[0-9A-Fa-f]*$/.test(text) ? Buffer.from(text, 'hex') : null;
}
