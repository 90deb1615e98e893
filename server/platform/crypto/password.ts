import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { unavailable } from '../errors.ts';

export type PasswordCost = { log2N: number; r: number; p: number };

/** OWASP's second scrypt profile: 32 MiB a hash. The first (128 MiB) would let a dozen sign-ins exhaust a small host. */
export const defaultCost: PasswordCost = { log2N: 15, r: 8, p: 3 };
const saltBytes = 16;
const keyBytes = 32;

// scrypt runs on libuv's four threads, which files and DNS share: two at a time leave room for them.
const maxRunning = 2;
const maxWaiting = 64;
let running = 0;
const waiting: (() => void)[] = [];

async function gated<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maxRunning) {
    if (waiting.length >= maxWaiting)
      throw unavailable('sign_in_busy', 'Too many sign-ins at once; try again shortly.');
    await new Promise<void>(resolve => waiting.push(resolve)); // the place is handed over, `running` stays as it is
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

function derive(password: string, salt: Uint8Array, cost: PasswordCost): Promise<Buffer> {
  const N = 2 ** cost.log2N;
  const options: ScryptOptions = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
  return gated(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // NFKC, so that a password typed on another keyboard or system is the same bytes.
        scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
  );
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** Hashes a password with scrypt; the result carries its parameters and salt: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`. */
export async function hashPassword(password: string, cost: PasswordCost = defaultCost): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await derive(password, salt, cost);
  return `$scrypt$ln=${cost.log2N},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(key)}`;
}

const encodedForm = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,86})\$([A-Za-z0-9+/]{43})$/;

function decode(encoded: string): { cost: PasswordCost; salt: Buffer; key: Buffer } {
  const match = encodedForm.exec(encoded);
  if (!match) throw new Error('A stored password hash is malformed.');
  const [, log2N, r, p, salt, key] = match;
  return {
    cost: { log2N: Number(log2N), r: Number(r), p: Number(p) },
    salt: Buffer.from(String(salt), 'base64'),
    key: Buffer.from(String(key), 'base64'),
  };
}

/**
 * Whether a password is the one that was hashed, compared in constant time. `null` (there is no such account) costs
 * the same work and is false, so that the time of an answer does not tell which accounts exist.
 * AppError 503 when too many are waiting.
 */
export async function verifyPassword(password: string, encoded: string | null): Promise<boolean> {
  if (encoded === null) {
    await derive(password, Buffer.alloc(saltBytes), defaultCost);
    return false;
  }
  const { cost, salt, key } = decode(encoded);
  return timingSafeEqual(await derive(password, salt, cost), key);
}

/** Whether a hash was made at another cost than today's, and should be made anew at the next sign-in. */
export function needsRehash(encoded: string, cost: PasswordCost = defaultCost): boolean {
  const stored = decode(encoded).cost;
  return stored.log2N !== cost.log2N || stored.r !== cost.r || stored.p !== cost.p;
}
