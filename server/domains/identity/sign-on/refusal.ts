/** Why a person is not signed in. The console has a line for each (components/auth/sign-on-refusals.ts). */
export type SignOnReason =
  /** The issuer does not answer. */
  | 'sign_on_unavailable'
  /** An answer that fails a check: issuer, audience, signature, time, nonce. */
  | 'sign_on_untrusted'
  /** The state belongs to another browser, was used, or is older than ten minutes. */
  | 'sign_on_expired'
  /** The issuer refused the person, or the code. */
  | 'sign_on_denied'
  /** The issuer does not vouch for the address. */
  | 'sign_on_unverified'
  /** The domain of the address is not among BATON_OIDC_ALLOWED_DOMAINS. */
  | 'sign_on_domain'
  /** Neither the groups nor an invitation give the person a role. */
  | 'sign_on_no_role'
  /** The issuer left the list of groups out because it is too long. */
  | 'sign_on_groups'
  /** The map of groups names a workspace or project that does not exist. */
  | 'sign_on_misconfigured'
  /** Another person of this issuer signs in to the account of the address. */
  | 'sign_on_address_taken';

/** A refused sign-in; `message` is for the operator's log, and contains neither a token nor a text of the issuer. */
export class SignOnRefused extends Error {
  readonly reason: SignOnReason;
  constructor(reason: SignOnReason, message: string) {
    super(message);
    this.name = 'SignOnRefused';
    this.reason = reason;
  }
}
