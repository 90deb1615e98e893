import NextAuth from 'next-auth';
import { container } from '../../../container.ts';
import { announceUrl, authOptions } from '../options.ts';

type RouteContext = { params: Promise<{ nextauth: string[] }> };

async function handle(request: Request, context: RouteContext): Promise<Response> {
  const { identity } = container();
  announceUrl(identity.url, process.env);
  return NextAuth(request as never, context as never, authOptions(identity));
}

export { handle as GET, handle as POST };
