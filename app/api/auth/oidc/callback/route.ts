import { clientOf, container } from '../../../../container.ts';
import { finishSignOn } from '../routes.ts';

export const GET = (request: Request): Promise<Response> =>
  finishSignOn(container().identity, request, clientOf(request));
