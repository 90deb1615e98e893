import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { constantTimeEqual, deriveKey } from './crypto/digest.ts';
import { parseJson } from './json-text.ts';

/**
 * The position of a run below the runs that led to it (docs/adr/0030). `root`: the run at the top, in the workspace `tenantId`.
 * `depth`: how many calls and requests lead to the run.
 */
export type CallerLineage = { tenantId: string; root: string; depth: number };

/** The request header that carries the lineage of a run whose step calls this service itself. */
export const LINEAGE_HEADER = 'baton-lineage';
const MAX_HEADER_LENGTH = 1_024;

const current = new AsyncLocalStorage<CallerLineage | null>();

/**
 * Runs `work` on behalf of a run with this lineage (null: of no run). Attempts use this, and so do requests that an attempt sent:
 * runs that they start are beneath that run, and their requests to this service carry its lineage.
 */
export function withLineage<T>(lineage: CallerLineage | null, work: () => T): T {
  return current.run(lineage, work);
}

/** Returns the lineage of the run on whose behalf the caller works; null if there is none. */
export function currentLineage(): CallerLineage | null {
  return current.getStore() ?? null;
}

/** Writes and reads the header: signed, so that only this service can have written what it reads. */
export type LineageSeal = {
  seal(lineage: CallerLineage): string;
  /** Returns null for a value that this service did not write. */
  open(value: string): CallerLineage | null;
};

/** Returns the header for a request that is sent now; null if it is sent on behalf of no run. */
export function sealedLineage(by: LineageSeal): string | null {
  const lineage = currentLineage();
  return lineage === null ? null : by.seal(lineage);
}

const Sealed = z.tuple([z.string(), z.uuid(), z.int().min(0)]);

export function createLineageSeal(masterKey: Uint8Array): LineageSeal {
  const key = deriveKey(masterKey, 'lineage');
  const signatureOf = (content: string) => createHmac('sha256', key).update(content).digest('base64url');
  return {
    seal({ tenantId, root, depth }) {
      const content = `v1.${Buffer.from(JSON.stringify([tenantId, root, depth])).toString('base64url')}`;
      return `${content}.${signatureOf(content)}`;
    },
    open(value) {
      if (value.length > MAX_HEADER_LENGTH) return null;
      const end = value.lastIndexOf('.');
      const content = value.slice(0, Math.max(0, end));
      if (!constantTimeEqual(signatureOf(content), value.slice(end + 1)) || !content.startsWith('v1.')) return null;
      const parsed = Sealed.safeParse(parseJson(Buffer.from(content.slice(3), 'base64url').toString()));
      if (!parsed.success) return null;
      const [tenantId, root, depth] = parsed.data;
      return { tenantId, root, depth };
    },
  };
}
