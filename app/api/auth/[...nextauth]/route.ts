import type { NextRequest } from 'next/server';
import NextAuth from 'next-auth';
import { clientOf, container } from '../../../container.ts';
import { announceUrl, authOptions, type SignInOutcome } from '../options.ts';
import { signedOut } from '../signed-out.ts';
import { tooManyAttempts } from '../too-many-attempts.ts';

async function handle(request: NextRequest, context: { params: Promise<{ nextauth: string[] }> }): Promise<Response> {
  const { identity } = container();
  announceUrl(identity.url, process.env);
  const outcome: SignInOutcome = {};
  const response: Response = await NextAuth(
    request,
    context,
    authOptions(identity, outcome, clientOf(request).address),
  );
  if (outcome.signOutUrl !== undefined) return signedOut(response, outcome.signOutUrl);
  return outcome.retryAfter === undefined ? response : tooManyAttempts(response, outcome.retryAfter);
}

export { handle as GET, handle as POST };
