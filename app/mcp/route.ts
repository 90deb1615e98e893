import { clientOf, container } from '../container.ts';

// The process's own server answers this path before Next sees it; this is for `next dev` alone or a serverless host.
const handle = (request: Request): Promise<Response> => container().handleMcp(request, clientOf(request));

export { handle as DELETE, handle as GET, handle as HEAD, handle as OPTIONS, handle as POST };
