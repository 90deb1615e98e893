import type { NextRequest } from 'next/server';
import NextAuth from 'next-auth';
import { container } from '../../../container.ts';
import { announceUrl, authOptions } from '../options.ts';

async function handle(request: NextRequest, context: { params: Promise<{ nextauth: string[] }> }): Promise<Response> {
  const { identity } = container();
  announceUrl(identity.url, process.env);
  return NextAuth(request, context, authOptions(identity));
}

export { handle as GET, handle as POST };
