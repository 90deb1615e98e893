import type { Config } from '../operation/config.ts';
import { firstServerUrl } from '../platform/postgres/server-list.ts';

/** Returns every secret in the configuration, including passwords within addresses, for redaction in log lines. */
export function configuredSecrets({
  http,
  database,
  identity,
  secrets,
  suite,
  messaging,
  mail,
  billing,
}: Config): string[] {
  const vault = secrets.vault?.credentials;
  const values = [
    http.metricsToken,
    ...passwordsIn(database.url && firstServerUrl(database.url)),
    identity.ownerPassword,
    identity.pat,
    identity.signOn?.oauth.clientSecret,
    identity.masterKey,
    identity.previousMasterKey,
    ...(vault === undefined ? [] : 'token' in vault ? [vault.token] : [vault.secretId]),
    suite?.clientSecret,
    messaging?.oauth?.clientSecret,
    ...passwordsIn(mail?.smtpUrl),
    billing.stripe?.secretKey,
    billing.stripe?.webhookSecret,
  ];
  return values.filter(value => value !== undefined);
}

/** Returns the password in an address, both as written and decoded. */
function passwordsIn(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  if (url === null) return [];
  const written = [url.password, url.searchParams.get('password') ?? ''].filter(password => password !== '');
  return written.flatMap(password => [password, decoded(password)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
