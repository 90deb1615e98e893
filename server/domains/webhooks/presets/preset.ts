import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { bytesStartAsJson } from '../body/json.ts';

/** A delivery as it arrived, for the checks of a preset. */
export type Received = {
  body: Uint8Array;
  /** The value of a header, by its lower-case name. */
  header(name: string): string | undefined;
  /** The headers whose names begin with `ce-`, which describe an event (CloudEvents). */
  attributes: readonly (readonly [name: string, value: string])[];
  /** The secret segment of the address, if it has one. */
  pathSecret: string | null;
  /** The parameter of this name in the query of the address. */
  validationToken?: string | undefined;
};

/** The values with which a preset checks a delivery. */
export type Expected = {
  /** The current and the previous secret; null for a secret that is missing or no longer accepted. */
  secrets: readonly [string | null, string | null];
  requireTimestamp: boolean;
  username: string | null;
  /** Milliseconds since 1970. */
  now: number;
};

/** The reason why a delivery was not authenticated. All ways in which a signature can be wrong have one code. */
export type Failure = 'missing_signature' | 'bad_signature' | 'bad_timestamp';

/** The identity of a delivery, by which a repetition is recognized. */
export type Identity = {
  digest: Buffer;
  /** Until when (ms) the digest identifies its run. */
  knownUntil: number;
  /** Whether the identity counts only for a delivery with an Idempotency-Key. */
  withKeyOnly: boolean;
};

/** The answer to a delivery with which a sender only tests the address. */
export type Acknowledgement = { challenge: string } | { acknowledged: 'ping' } | { text: string };

/** How the deliveries of one kind of sender are authenticated and recognized. */
export type PresetRules = {
  /**
   * Returns why the delivery is refused, or null if it is authentic. It never throws, and computes its
   * digests for both secrets even if something is missing or malformed, so that the time of a refusal reveals
   * nothing about the signature.
   */
  verify(received: Received, expected: Expected): Failure | null;
  /**
   * Returns the format of a body, from its bytes as sent and without its content coding. If absent, the headers tell
   * the format. Headers are not signed, so a preset that takes the identity from the payload must not use them.
   */
  format?(sent: Uint8Array, expanded: Uint8Array): 'json' | 'form';
  /** Returns the identity of an authentic delivery, or null if each request counts as a new delivery. */
  identify(received: Received, payload: JsonMap, now: number): Identity | null;
  /** Returns the answer to a delivery that starts no run, or null for one that starts a run. */
  acknowledge?(received: Received, payload: JsonMap): Acknowledgement | null;
  /**
   * Returns whether the answer must be empty, because the sender shows it to a person or interprets it as an
   * instruction.
   */
  wantsEmptyAnswer?(received: Received): boolean;
  /** Returns fields for the run's input that only the headers have; posted values win. */
  describe?(received: Received): JsonMap;
};

/**
 * Returns the format of a body that is JSON or a form, by its first byte. Bytes that are JSON as sent stay JSON,
 * regardless of an unsigned Content-Encoding.
 */
export const jsonOrForm = (sent: Uint8Array, expanded: Uint8Array): 'json' | 'form' =>
  bytesStartAsJson(sent) || bytesStartAsJson(expanded) ? 'json' : 'form';
