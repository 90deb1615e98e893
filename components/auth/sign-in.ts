import { signIn } from 'next-auth/react';

/** Signs in with e-mail and password. Null on success, otherwise what to tell the user. */
export async function signInWithPassword(email: string, password: string): Promise<string | null> {
  try {
    const result = await signIn('credentials', { email, password, redirect: false });
    if (result?.ok && !result.error) return null;
    if (result?.status === 429 || result?.error?.startsWith('Too many'))
      return 'Too many attempts. Wait a minute and try again.';
    if (result?.error && result.error !== 'CredentialsSignin') return 'Signing in failed. Try again.';
    return 'E-mail or password is wrong.';
  } catch {
    return 'The server cannot be reached. Check your connection and try again.';
  }
}
