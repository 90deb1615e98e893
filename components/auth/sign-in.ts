import { tellTabs } from '../trpc/session-gate.ts';
import { requestSignIn } from './auth-requests.ts';

/** Returns the message for an error code of next-auth or of app/api/auth/options.ts. */
export function describeSignInError(code: string): string {
  switch (code) {
    case 'rate_limited':
      return 'Too many sign-in attempts. Wait a minute and try again.';
    case 'CredentialsSignin':
      return 'Incorrect email or password.';
    default:
      return 'Could not sign you in because of a server error. Try again.';
  }
}

/** Signs in with email and password. Returns null on success, otherwise the message for the user. */
export async function signInWithPassword(email: string, password: string): Promise<string | null> {
  try {
    const code = await requestSignIn(email, password);
    if (code !== null) return describeSignInError(code);
    tellTabs({ says: 'signed-in' });
    return null;
  } catch {
    return 'The server cannot be reached. Check your connection and try again.';
  }
}
