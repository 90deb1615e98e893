import { v7, validate } from 'uuid';

/** A new UUIDv7, lowercase: ids sort by creation, which keeps B-tree inserts at the right edge. */
export function newId(): string {
  return v7();
}

/** Whether a string is a UUID of any version, in lower case. */
export function isId(value: string): boolean {
  return validate(value) && value === value.toLowerCase();
}
