import { clientOf, container } from '../../../container.ts';

// The process's own server answers these paths before Next. This route is only for `next dev` and serverless hosts.
const handle = (request: Request): Promise<Response> => container().handleTrpc(request, clientOf(request));

export { handle as GET, handle as POST };
