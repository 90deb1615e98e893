import { serve } from '../system/serve.ts';
import { workloads } from '../workloads/index.ts';
import { BenchService } from './service.ts';

await serve(workloads, () => BenchService.open());
