import { container } from '../../../../container.ts';
import { startSignOn } from '../routes.ts';

export const GET = (request: Request): Promise<Response> => startSignOn(container().identity, request);
