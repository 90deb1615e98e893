import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: 60,
  retries: true,
  guide: '{script}. Lua 5.4 with input, steps, run, json/base64/hex.encode/decode, log; returns its result.',
  references: {},
};
