import { clientOf, container } from '../../../container.ts';

const handle = (request: Request): Promise<Response> => container().trpc(request, clientOf(request));

export { handle as GET, handle as POST };
