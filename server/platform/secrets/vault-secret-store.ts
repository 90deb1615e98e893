import { z } from 'zod';
import type { SecretStore } from './secret-store.ts';
import {
  unusable,
  type VaultAnswer,
  VaultSession,
  type VaultSessionOptions,
  type VaultSettings,
} from './vault-session.ts';

const readSchema = z.object({
  data: z.object({
    // Null if the newest version was deleted; without `value` if it was taken.
    data: z.object({ value: z.string().optional() }).nullable(),
    metadata: z.object({ version: z.int() }),
  }),
});
const writtenSchema = z.object({ data: z.object({ version: z.int() }) });
const metadataSchema = z.object({ data: z.object({ versions: z.record(z.string(), z.unknown()) }) });
const errorsSchema = z.object({ errors: z.array(z.string()) });

/** The maximum number of attempts: one secret does not have more concurrent changes within a few milliseconds. */
const MAX_ATTEMPTS = 10;

/**
 * Secrets in HashiCorp Vault or OpenBao, KV version 2 (docs/specification/connections.md#secret-store), at
 * `<prefix>/<tenant>/<name>`, in the field `value`. Taking is a check-and-set of an empty version over the one that was
 * read, so that only one taker succeeds. Every method throws AppError 503 if Vault is unavailable, sealed, or refuses.
 */
export class VaultSecretStore implements SecretStore {
  readonly #settings: VaultSettings;
  readonly #session: VaultSession;

  constructor(options: Omit<VaultSessionOptions, 'settings'> & { settings: VaultSettings }) {
    this.#settings = options.settings;
    this.#session = new VaultSession(options);
  }

  async put(tenantId: string, name: string, plaintext: string): Promise<void> {
    const data = { value: plaintext };
    if ((await this.#write(tenantId, name, data)) !== null) return;
    // The mount requires a check-and-set for every write.
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { version } = await this.#read(tenantId, name);
      if ((await this.#write(tenantId, name, data, version)) !== null) return;
    }
    throw unusable('let no write through: another was faster each time');
  }

  async get(tenantId: string, name: string): Promise<string | null> {
    return (await this.#read(tenantId, name)).value;
  }

  async take(tenantId: string, name: string): Promise<string | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { version, value } = await this.#read(tenantId, name);
      if (value === null) return null;
      const emptied = await this.#write(tenantId, name, {}, version);
      if (emptied === null) continue;
      await this.#destroyUpTo(emptied, tenantId, name);
      return value;
    }
    throw unusable('gave nothing to take: another was faster each time');
  }

  async delete(tenantId: string, name: string): Promise<void> {
    const answer = await this.#session.request('DELETE', this.#path('metadata', tenantId, name));
    if (answer.status === 400) throw unusable('answered 400');
  }

  /** Requests a token from Vault, so that a refused one is noticed at the start. Throws AppError 503. */
  async check(): Promise<void> {
    await this.#read('-', 'start');
  }

  close(): void {
    this.#session.close();
  }

  /** Version 0 if there has never been one. */
  async #read(tenantId: string, name: string): Promise<{ version: number; value: string | null }> {
    const answer = await this.#session.request('GET', this.#path('data', tenantId, name));
    const parsed = readSchema.safeParse(answer.body);
    if (parsed.success) {
      const { data, metadata } = parsed.data.data;
      return { version: metadata.version, value: answer.status === 200 ? (data?.value ?? null) : null };
    }
    if (answer.status === 404) return { version: 0, value: null };
    throw unusable(`answered ${answer.status} with something else than a secret`);
  }

  /** Returns the version written, or null if check-and-set refused it. */
  async #write(tenantId: string, name: string, data: object, cas?: number): Promise<number | null> {
    const options = cas === undefined ? {} : { cas };
    const answer = await this.#session.request('POST', this.#path('data', tenantId, name), { options, data });
    const written = writtenSchema.safeParse(answer.body);
    if (answer.status === 200 && written.success) return written.data.data.version;
    if (answer.status === 400 && isCheckAndSet(answer)) return null;
    throw unusable(`answered ${answer.status} to a write`);
  }

  /**
   * Destroys the earlier versions of an emptied secret. It destroys versions and not the whole entry, because a new value may
   * already be stored. The taker already has the secret, so an error here is ignored: reporting it would lose the secret. An
   * operator's `max_versions` deletes what is left.
   */
  async #destroyUpTo(newest: number, tenantId: string, name: string): Promise<void> {
    try {
      const found = await this.#session.request('GET', this.#path('metadata', tenantId, name));
      const parsed = metadataSchema.safeParse(found.body);
      const known = parsed.success ? Object.keys(parsed.data.data.versions).map(Number) : [newest - 1];
      const versions = known.filter(version => version < newest);
      await this.#session.request('POST', this.#path('destroy', tenantId, name), { versions });
    } catch {
      // Ignored, see above.
    }
  }

  #path(kind: 'data' | 'metadata' | 'destroy', tenantId: string, name: string): string {
    const { mount, prefix } = this.#settings;
    const place = [tenantId, ...name.split('/')].map(encodeSegment).join('/');
    return `${mount}/${kind}/${prefix}/${place}`;
  }
}

/**
 * Returns one path segment for any text: characters that Vault, or a proxy before it, might
 * interpret become `=` and hex.
 */
function encodeSegment(text: string): string {
  const bytes = [...Buffer.from(text, 'utf8')];
  const encoded = bytes.map(byte => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_-]/.test(character) ? character : `=${byte.toString(16).padStart(2, '0')}`;
  });
  return encoded.join('') || '=';
}

function isCheckAndSet({ body }: VaultAnswer): boolean {
  const parsed = errorsSchema.safeParse(body);
  return parsed.success && parsed.data.errors.some(error => error.includes('check-and-set'));
}
