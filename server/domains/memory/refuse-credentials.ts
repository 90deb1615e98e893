import type { Context } from '../../operation/context.ts';
import { invalid } from '../../platform/errors.ts';
import { readKnownSecrets } from '../connections/known-secrets.ts';
import { looksLikeCredential } from './credential-forms.ts';

/**
 * Refuses texts with credentials, because memories are shown to models and to people for years. Throws AppError 422 `contains_credential`,
 * whose details have only the paths, and 503 if the secret store is unavailable.
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
