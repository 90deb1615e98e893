import type { JsonMap } from '../../../orchestrator/core/index.ts';

/** A delivery as it arrived, for the checks of a preset. */
export type Received = {
  body: Uint8Array;
  /** The value of a header, by its lower-case name. */
  header(name: string): string | undefined;
  /** The secret segment of the address, if it has one. */
  pathSecret: string | null;
};

/** The values that a preset checks a delivery against. */
export type Expected = {
  /** The current secret and the previous one; null for one that is missing or no longer accepted. */
  secrets: readonly [string | null, string | null];
  requireTimestamp: boolean;
  username: string | null;
  /** Milliseconds since 1970. */
  now: number;
};

/** Why a delivery was not authenticated; the same code for each part of a signature that can be wrong. */
export type Failure = 'missing_signature' | 'bad_signature' | 'bad_timestamp';

/** The identity of a delivery, by which a repetition is recognized. */
export type Identity = {
  digest: Buffer;
  /** Until when (ms) the digest identifies its run. */
  knownUntil: number;
  /** True if it only applies to a delivery with an Idempotency-Key. */
  withKeyOnly: boolean;
};

/** The answer to a delivery by which a sender only tests the address. */
export type Acknowledgement = { challenge: string } | { acknowledged: 'ping' };

/** How the deliveries of one kind of sender are authenticated and recognized. */
export type PresetRules = {
  /**
   * Returns why the delivery is refused, or null if it is authentic. It never throws, and computes its
   * digests for both secrets even if something is missing or malformed, so that the time of a refusal reveals
   * nothing about the signature.
   */
  verify(received: Received, expected: Expected): Failure | null;
  /** Returns the identity of an authentic delivery, or null if each request is a delivery of its own. */
  identify(received: Received, payload: JsonMap, now: number): Identity | null;
  /** Returns the answer to a delivery that starts no run, or null for one that starts a run. */
  acknowledge?(received: Received, payload: JsonMap): Acknowledgement | null;
  /** Returns fields for the run's input that only the headers have; posted values win. */
  describe?(received: Received): JsonMap;
};
