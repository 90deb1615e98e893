import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useRealCost } from '../../testing/cheap-passwords.ts';
import { constantTimeEqual, deriveKey, randomToken, sha256 } from './digest.ts';
import { DecryptionError, open, seal } from './envelope.ts';
import { loadMasterKey, MasterKeyError } from './master-key.ts';
import { defaultCost, hashPassword, haveSameSalt, matchPassword, needsRehash, verifyPassword } from './password.ts';

describe('digest', () => {
  it('hashes, compares and derives', () => {
    expect(sha256('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(constantTimeEqual('same', 'same')).toBe(true);
    expect(constantTimeEqual('same', 'samf')).toBe(false);
    expect(constantTimeEqual('short', 'much longer')).toBe(false);
    expect(randomToken()).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const master = randomBytes(32);
    expect(deriveKey(master, 'a')).toEqual(deriveKey(master, 'a'));
    expect(deriveKey(master, 'a')).not.toEqual(deriveKey(master, 'b'));
    expect(deriveKey(master, 'a')).not.toEqual(deriveKey(randomBytes(32), 'a'));
  });
});

describe('envelope', () => {
  const key = randomBytes(32);

  it('decrypts every plaintext that it encrypted', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096 }), fc.array(fc.string()), (plaintext, place) => {
        expect(new Uint8Array(open(key, seal(key, plaintext, place), place))).toEqual(plaintext);
      }),
    );
  });

  it('decrypts only in the same place', () => {
    const sealed = seal(key, Buffer.from('secret'), ['a', 'bc']);
    expect(() => open(key, sealed, ['ab', 'c'])).toThrow(DecryptionError);
    expect(() => open(key, sealed, ['a'])).toThrow(DecryptionError);
    expect(() => open(randomBytes(32), sealed, ['a', 'bc'])).toThrow(DecryptionError);
  });

  it('notices every flipped bit and every truncation', () => {
    const sealed = seal(key, Buffer.from('secret'), ['p']);
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => open(key, changed, ['p'])).toThrow(DecryptionError);
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(() => open(key, sealed.subarray(0, length), ['p'])).toThrow(DecryptionError);
    }
  });

  it('never gives the same ciphertext twice', () => {
    const twice = [seal(key, Buffer.from('x'), []), seal(key, Buffer.from('x'), [])];
    expect(twice[0]).not.toEqual(twice[1]);
  });
});

describe('password', () => {
  beforeAll(useRealCost);

  const cheap = { log2N: 4, r: 8, p: 1 };

  it('verifies only the password that was hashed', async () => {
    const hash = await hashPassword('correct horse', cheap);
    expect(hash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('correct horsf', hash)).toBe(false);
    expect(await verifyPassword('', hash)).toBe(false);
    expect(await hashPassword('correct horse', cheap)).not.toBe(hash);
  });

  it('treats the two Unicode spellings of a password as the same', async () => {
    expect(await verifyPassword('caf\u00e9', await hashPassword('cafe\u0301', cheap))).toBe(true);
  });

  it('is matched against several hashes, and hashed with the salt of the first', async () => {
    const { hash: first } = await matchPassword('first password', []);
    const { matched, hash: second } = await matchPassword('second password', [first]);
    expect(matched).toBeNull();
    expect(haveSameSalt(first, second)).toBe(true);
    const old = await hashPassword('old password', cheap);
    expect(await matchPassword('second password', [first, second])).toEqual({ matched: 1, hash: second });
    expect((await matchPassword('old password', [first, old])).matched).toBe(1);
    expect((await matchPassword('another password', [first, second, old])).matched).toBeNull();
    expect(haveSameSalt(first, old)).toBe(false);
  });

  it('recognizes an outdated cost', async () => {
    const strong = await hashPassword('correct horse');
    expect(strong.startsWith(`$scrypt$ln=${defaultCost.log2N},r=8,p=3$`)).toBe(true);
    expect(needsRehash(strong)).toBe(false);
    expect(needsRehash(await hashPassword('correct horse', cheap))).toBe(true);
  });

  it('refuses a flood instead of queueing without limit', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 80 }, () => hashPassword('x', { ...cheap, log2N: 8 })),
    );
    const refused = outcomes.filter(outcome => outcome.status === 'rejected');
    expect(refused).toHaveLength(80 - 66);
    expect(refused[0]?.reason).toMatchObject({ status: 429, code: 'sign_in_busy', headers: { 'Retry-After': '5' } });
    expect(await verifyPassword('x', await hashPassword('x', cheap))).toBe(true); // the gate opened again
  });
});

describe('master key', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-key-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('accepts only a configured key of 32 bytes', async () => {
    const key = randomBytes(32);
    const configured = key.toString('base64');
    expect(await loadMasterKey({ configured, dataDir: folder })).toEqual(key);
    for (const bad of ['', 'short', randomBytes(31).toString('base64'), `${'!'.repeat(43)}=`]) {
      const loading = loadMasterKey({ configured: bad, dataDir: folder });
      await expect(loading).rejects.toThrow(/^BATON_MASTER_KEY must be base64 of 32 bytes/);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('creates one key file with mode 0600, even if many processes start at once', async () => {
    const dataDir = join(folder, 'new', 'data');
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey({ configured: undefined, dataDir })));
    expect(new Set(keys.map(key => key.toString('hex'))).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['master.key']);
    expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600);
    expect(await loadMasterKey({ configured: undefined, dataDir })).toEqual(keys[0]);
  });

  it('refuses a file that others can read, or that holds no key, in one line without the key', async () => {
    const dataDir = await mkdtemp(join(folder, 'open-'));
    await loadMasterKey({ configured: undefined, dataDir });
    const path = join(dataDir, 'master.key');
    await chmod(path, 0o640);
    const text = (await readFile(path, 'utf8')).trim();
    const error = await loadMasterKey({ configured: undefined, dataDir }).catch(thrown => thrown);
    expect(error).toBeInstanceOf(MasterKeyError);
    expect(error.message).toBe(`The master key ${path} can be read by others; run: chmod 600 ${path}`);
    await chmod(path, 0o600);
    await writeFile(path, text.slice(2));
    const malformed = await loadMasterKey({ configured: undefined, dataDir }).catch(thrown => thrown);
    expect(malformed).toBeInstanceOf(MasterKeyError);
    expect(malformed.message).not.toContain(text.slice(2, 12));
  });
});
