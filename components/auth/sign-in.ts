import { signIn } from 'next-auth/react';

/** Signs in with e-mail and password. Null on success, otherwise what to tell the user. */
export async function signInWithPassword(email: string, password: string): Promise<string | null> {
  try {
    const result = await signIn('credentials', { email, password, redirect: false });
    if (result?.ok && !result.error) return null;
    // The codes of app/api/auth/options.ts.
    switch (result?.error) {
      case 'rate_limited':
        return 'Too many attempts. Wait a minute and try again.';
      case 'CredentialsSignin':
        return 'E-mail or password is wrong.';
      default:
        return 'Signing in failed on the server. Try again.';
    }
  } catch {
    return 'The server cannot be reached. Check your connection and try again.';
  }
}
