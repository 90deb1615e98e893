import { clientOf, container } from '../../../container.ts';

// The process's own server answers these paths before Next sees them; this is for `next dev` alone or a serverless host.
const handle = (request: Request): Promise<Response> => container().handleTrpc(request, clientOf(request));

export { handle as GET, handle as POST };
