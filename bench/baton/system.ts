import { serve } from '../system/serve.ts';
import { BenchService } from './service.ts';

await serve(() => BenchService.open());
