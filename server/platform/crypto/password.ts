import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';
import { FairQueue, type Requester } from './fair-queue.ts';

export type PasswordCost = { log2N: number; r: number; p: number };

/**
 * OWASP's second scrypt profile: 32 MiB per hash. The first one (128 MiB) would let a dozen
 * sign-ins exhaust a small host.
 */
export const defaultCost: PasswordCost = { log2N: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** 64 waiting checks of 0.1 s, two at a time, take about this long. */
const RETRY_AFTER_S = 5;

// scrypt runs on libuv's four threads, which files and DNS also use: two at a time leave room for them.
const queue = new FairQueue({
  running: 2,
  waiting: 64,
  refusal: () =>
    new AppError(429, 'sign_in_busy', 'Too many sign-ins at once; try again shortly.', {
      headers: { 'Retry-After': String(RETRY_AFTER_S) },
    }),
});

/** The requester of work that no client requested: at the start, or for an operator's command. */
const OWN_WORK: Requester = { address: '', account: '' };

function derive(password: string, salt: Uint8Array, cost: PasswordCost, requester: Requester): Promise<Buffer> {
  const N = 2 ** cost.log2N;
  const options: ScryptOptions = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
  return queue.run(
    requester,
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // NFKC, so that a password typed on another keyboard or system gives the same bytes.
        scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
  );
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const encode = (cost: PasswordCost, salt: Buffer, key: Buffer) =>
  `$scrypt$ln=${cost.log2N},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(key)}`;

/**
 * Hashes a password with scrypt; the result contains its parameters and salt: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`.
 */
export async function hashPassword(
  password: string,
  cost: PasswordCost = defaultCost,
  requester: Requester = OWN_WORK,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return encode(cost, salt, await derive(password, salt, cost, requester));
}

const encodedForm = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,86})\$([A-Za-z0-9+/]{43})$/;

type Decoded = { cost: PasswordCost; salt: Buffer; key: Buffer };

function decode(encoded: string): Decoded {
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
 * Compares a password with several stored hashes, each in constant time. Returns the index of the first matching hash, or null,
 * and a hash of the password at today's cost, with the salt of the first stored hash (a new salt if none is stored). Hashes with
 * the same salt and cost need one derivation in total, and so does an empty list. So the time reveals neither whether there are
 * hashes nor how many. Throws AppError 429 when too many are waiting.
 */
export async function matchPassword(
  password: string,
  stored: readonly string[],
  requester: Requester = OWN_WORK,
): Promise<{ matched: number | null; hash: string }> {
  const decoded = stored.map(decode);
  const salt = decoded[0]?.salt ?? randomBytes(SALT_BYTES);
  const hash = encode(defaultCost, salt, await derive(password, salt, defaultCost, requester));
  const derived: Decoded[] = [decode(hash)];
  let matched: number | null = null;
  for (const [index, each] of decoded.entries()) {
    let known = derived.find(({ salt, cost }) => salt.equals(each.salt) && isSameCost(cost, each.cost));
    if (!known) {
      known = { ...each, key: await derive(password, each.salt, each.cost, requester) };
      derived.push(known);
    }
    if (timingSafeEqual(known.key, each.key)) matched ??= index;
  }
  return { matched, hash };
}

/** Returns whether two hashes have the same salt, as the hashes of all accounts with one address have. */
export function haveSameSalt(one: string, other: string): boolean {
  return decode(one).salt.equals(decode(other).salt);
}

/** Returns whether a password matches a hash, compared in constant time. Throws AppError 429 when too many are waiting. */
export async function verifyPassword(
  password: string,
  encoded: string,
  requester: Requester = OWN_WORK,
): Promise<boolean> {
  const { cost, salt, key } = decode(encoded);
  return timingSafeEqual(await derive(password, salt, cost, requester), key);
}

const isSameCost = (one: PasswordCost, other: PasswordCost) =>
  one.log2N === other.log2N && one.r === other.r && one.p === other.p;

/** Returns whether a hash has a cost other than today's, and should be replaced at the next sign-in. */
export function needsRehash(encoded: string, cost: PasswordCost = defaultCost): boolean {
  return !isSameCost(decode(encoded).cost, cost);
}
