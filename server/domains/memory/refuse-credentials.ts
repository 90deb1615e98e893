import type { Context } from '../../contract/context.ts';
import { invalid } from '../../platform/errors.ts';
import { readKnownSecrets } from '../connections/known-secrets.ts';

/**
 * The forms of keys that issuers document, and of credentials that text carries. What may begin at many places is bounded: a text of
 * 1 MiB of `a.` or `eyJ-` would otherwise be read to its end from each of them.
 */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z]{1,20} ){0,4}PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{36,}\b/,
  /\bgithub_pat_[A-Za-z0-9_]{40,}\b/,
  /\bglpat-[\w-]{20,}\b/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}\b/,
  /\bsk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}\b/,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b/,
  /\bAIza[0-9A-Za-z_-]{35}\b/,
  /\bpat_[0-9A-Za-z]{46}\b/,
  /\bwhsec_[A-Za-z0-9+/=]{20,}/,
  /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10}/,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{1,100}:[^\s/@]{3,200}@/i,
  /\bbearer\s+[A-Za-z0-9._~+/-]{20,}/i,
  /\b(?:password|passwd|api[_-]?key|secret|access[_-]?token)\b["']?\s*[:=]\s*["']?(?=[^\s"']{0,64}[A-Za-z])(?=[^\s"']{0,64}\d)[^\s"']{8,}/i,
];

/** Whether a text holds what looks like a credential. */
export const looksLikeCredential = (text: string): boolean => PATTERNS.some(pattern => pattern.test(text));

/**
 * Refuses texts with credentials: what is remembered is shown to models and to people for years. AppError 422 `contains_credential` with
 * the paths alone; 503 when the secret store is away.
 */
export async function refuseCredentials(
  { services, principal }: Pick<Context, 'services' | 'principal'>,
  texts: readonly { path: string; text: string }[],
): Promise<void> {
  const isSecret = await readKnownSecrets(services, principal);
  const found = texts.filter(({ text }) => looksLikeCredential(text) || isSecret(text));
  if (found.length === 0) return;
  const message = 'contains what looks like a credential: remove it';
  throw invalid(
    'Credentials are not remembered.',
    found.map(({ path }) => ({ path, message, code: 'contains_credential' })),
    'contains_credential',
  );
}
