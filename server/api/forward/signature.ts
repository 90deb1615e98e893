import { createHmac } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { constantTimeEqual, deriveKey, sha256 } from '../../platform/crypto/digest.ts';

/** The header by which one node of a cluster tells another one for whom it forwards a request. */
export const FORWARDED_HEADER = 'x-baton-forwarded';
/** Times that are further from this node's clock than this are refused; a time that is exactly this far is accepted. */
export const MAX_AGE_MS = 30_000;

/** The facts that a forwarding node vouches for. `from`: its id. `address`: the client's, as the limits count it. */
export type Forwarded = { from: string; address: string };

/** The parts of a request to which a signature is bound, so that it fits no other request. */
export type SignedRequest = {
  method: string;
  /** Path and query. */
  target: string;
  /** Looks a request header up by its lower-case name. */
  header: (name: string) => string | undefined;
};

export type ForwardSeal = {
  /** Returns the header for a request that is forwarded now. */
  seal(by: Forwarded, request: SignedRequest): string;
  /** Returns the content of the header; null if it is malformed, too old or too new, or was not written for this request. */
  open(value: string, request: SignedRequest): Forwarded | null;
};

/** `<node>, <time in ms>, <client address>, <HMAC-SHA-256>`. Everything that a node writes is ASCII without commas. */
const FORM = /^([A-Za-z0-9._-]{1,64}), (\d{13}), ([0-9a-z.:/]{1,64}), ([A-Za-z0-9_-]{43})$/;

/** Everything in a request that can identify its sender. */
const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'sec-websocket-protocol'] as const;

/** Creates the seal whose key all nodes of a cluster derive from their master key. */
export function createForwardSeal(masterKey: Uint8Array, clock: Clock): ForwardSeal {
  const key = deriveKey(masterKey, 'forwarded');
  const signatureOf = (from: string, at: string, address: string, { method, target, header }: SignedRequest) => {
    const credential = sha256(JSON.stringify(CREDENTIAL_HEADERS.map(name => header(name) ?? null))).toString(
      'base64url',
    );
    const content = JSON.stringify(['v1', from, at, address, method, header('host') ?? null, target, credential]);
    return createHmac('sha256', key).update(content).digest('base64url');
  };
  return {
    seal({ from, address }, request) {
      const at = String(clock.now());
      return `${from}, ${at}, ${address}, ${signatureOf(from, at, address, request)}`;
    },
    open(value, request) {
      const [, from, at, address, signature] = FORM.exec(value) ?? [];
      if (from === undefined || at === undefined || address === undefined || signature === undefined) return null;
      // The signature comes first: nothing that others wrote is interpreted.
      if (!constantTimeEqual(signatureOf(from, at, address, request), signature)) return null;
      return Math.abs(clock.now() - Number(at)) <= MAX_AGE_MS ? { from, address } : null;
    },
  };
}
