import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: null,
  retries: false,
  guide: `{items, steps, concurrency?, on_item_error?: "fail"|"continue"}. Runs a graph of its own for each item of a list (items: one template or CEL);
  its steps also read {{item.x}} and {{index}}; item and index in CEL and Lua. Result: {results: [...], failed: n}.`,
  references: {},
};
