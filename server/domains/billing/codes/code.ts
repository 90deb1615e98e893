import { randomInt } from 'node:crypto';

export const codeKinds = ['credits', 'trial_days', 'percent', 'amount'] as const;
export type CodeKind = (typeof codeKinds)[number];

/** A billing code; times in ms since the epoch. */
export type BillingCode = {
  productCode: string;
  /** Normalized with `normalizeCode`. */
  code: string;
  kind: CodeKind;
  /** Microcredits, days, percent, or minor units, by kind. */
  value: number;
  /** The currency of a discount amount; null for other kinds. */
  currency: string | null;
  /** The plans that the code applies to; empty: all. */
  planCodes: readonly string[];
  /** Days until the granted credits expire; null: never. */
  creditsExpireDays: number | null;
  /** How many months a discount lasts; null: until the subscription ends. */
  months: number | null;
  maxRedemptions: number | null;
  maxPerTenant: number;
  redeemed: number;
  startsAt: number | null;
  endsAt: number | null;
  providerPromotionId: string | null;
  disabled: boolean;
  createdBy: string;
  createdAt: number;
};

/** Normalizes a code for comparing and storing: upper case, without surrounding spaces. */
export const normalizeCode = (code: string): string => code.trim().toUpperCase();

/** Digits and capital letters except those that look alike (0 O, 1 I L, 2 Z, 5 S, 8 B, U V). */
const alphabet = '34679ACDEFGHJKMNPQRTWXY';
/**
 * The number of characters of a generated code. There are 23^18 (2^81) codes: a thousand guesses per second for the age of the
 * universe would find none of a million.
 */
const LENGTH = 18;
const GROUP = 6;

/** Generates a code that cannot be guessed, in groups that can be read aloud: `K3TQ9H-WPX6AD-4RMC7Y`. */
export function generateCode(): string {
  const letters = Array.from({ length: LENGTH }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return letters.match(new RegExp(`.{${GROUP}}`, 'g'))?.join('-') ?? letters;
}
