import type { SignOnReason } from '../../server/domains/identity/sign-on/refusal.ts';

const lines: Record<SignOnReason, string> = {
  sign_on_unavailable: 'The single sign-on service cannot be reached. Wait a minute and try again.',
  sign_on_untrusted: 'The answer of the single sign-on service could not be verified. Tell your administrator.',
  sign_on_expired: 'This sign-in was started in another browser, was used already, or is too old. Start again.',
  sign_on_denied: 'The single sign-on service did not sign you in. Try again, or ask your administrator.',
  sign_on_unverified:
    'Your email address is not verified at the single sign-on service. Verify it there and try again.',
  sign_on_domain: 'Email addresses of your domain cannot sign in here. Use another account, or ask your administrator.',
  sign_on_no_role: 'Your account has no role here. Ask your administrator for access.',
  sign_on_groups: 'The single sign-on service did not list your groups. Tell your administrator.',
  sign_on_misconfigured: 'Your groups lead to a workspace or project that does not exist. Tell your administrator.',
  sign_on_address_taken: 'Another person already signs in with your email address. Tell your administrator.',
};

/** Returns the line of the sign-in page for a refused single sign-on; undefined for other codes. */
export function describeSignOnRefusal(code: string): string | undefined {
  return Object.hasOwn(lines, code) ? lines[code as SignOnReason] : undefined;
}
