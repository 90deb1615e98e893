import type { StepPreview } from '../../ports/step-declarations.ts';
import { fieldText, orNull, textOf } from '../preview-parts.ts';

export const preview: StepPreview = {
  liveEffect: ({ tool_name, tool_args }) =>
    `Calls the tool ${fieldText(tool_name)} with ${JSON.stringify(tool_args ?? {})}`,
  summary: ({ tool_name: tool }) => orNull(textOf(tool)),
};
