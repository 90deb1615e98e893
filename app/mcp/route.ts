import { clientOf, container } from '../container.ts';

// The process's own server answers this path before Next. This route is only for `next dev` and serverless hosts.
const handle = (request: Request): Promise<Response> => container().handleMcp(request, clientOf(request));

export { handle as DELETE, handle as GET, handle as HEAD, handle as OPTIONS, handle as POST };
