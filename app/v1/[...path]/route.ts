import { clientOf, container } from '../../container.ts';

const handle = (request: Request): Promise<Response> => container().handle(request, clientOf(request));

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
