import type { JsonValue } from './events.ts';

/** A step as published. Fields of its type stand beside the common ones and are opaque to the core, but for `condition` and `human_task`. */
export type GraphStep = {
  id: string;
  type: string;
  name?: string;
  timeout_s?: number;
  retry_count?: number;
  retry_delay_s?: number;
  depends_on?: string[];
  disabled?: boolean;
  gated?: boolean;
  overridable?: string[];
  [field: string]: JsonValue | undefined;
};
export type Graph = { steps: GraphStep[] };
