import { decodeBase64, decodeHex } from '../../../platform/encoded-bytes.ts';
import type { CelFunction } from './functions.ts';
import { type Budget, Bytes, CelError, type CelValue, typeName } from './values.ts';

const strict = new TextDecoder('utf-8', { fatal: true });

/** Returns the UTF-8 text of bytes, as `string(…)` does. Throws CelError. */
export function textOf({ data }: Bytes, budget: Budget): string {
  budget.spendText(data.length);
  try {
    return strict.decode(data);
  } catch {
    throw new CelError('string cannot convert bytes that are not UTF-8: use base64.encode or hex.encode');
  }
}

/** Returns the bytes of a text in UTF-8, as `bytes(…)` does. Returns bytes unchanged. Throws CelError. */
export function bytesOf(value: CelValue | undefined, name: string, budget: Budget): Bytes {
  if (value instanceof Bytes) {
    budget.spendText(value.data.length);
    return value;
  }
  if (typeof value !== 'string') throw new CelError(`${name} takes bytes or a string, not ${typeName(value ?? null)}`);
  budget.spendText(value.length * 2);
  return new Bytes(Buffer.from(value));
}

const encoder =
  (name: string, encoding: 'base64' | 'hex'): CelFunction['call'] =>
  ([value], budget) => {
    const { data } = bytesOf(value, name, budget);
    budget.spendText(data.length * 2);
    return data.toString(encoding);
  };

const decoder =
  (name: string, decode: (text: string) => Buffer | null): CelFunction['call'] =>
  ([value], budget) => {
    if (typeof value !== 'string') throw new CelError(`${name} takes a string, not ${typeName(value ?? null)}`);
    budget.spendText(value.length * 4);
    const data = decode(value);
    if (data === null) throw new CelError(`${name}: this is not ${name.slice(0, name.indexOf('.'))}`);
    return new Bytes(data);
  };

/** Returns the value of a literal such as `b"abc"`. */
export function constantBytes(literal: Uint8Array): () => Bytes {
  const bytes = new Bytes(Buffer.from(literal));
  return () => bytes;
}

/** `base64.encode(x)`, as in CEL's extension of encoders, and the same functions for hexadecimal digits. */
export const encoders: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ['base64.encode', { arity: [1], call: encoder('base64.encode', 'base64') }],
  ['base64.decode', { arity: [1], call: decoder('base64.decode', decodeBase64) }],
  ['hex.encode', { arity: [1], call: encoder('hex.encode', 'hex') }],
  ['hex.decode', { arity: [1], call: decoder('hex.decode', decodeHex) }],
]);
