/**
 * The names that a workflow may have as a tool. Model providers accept 64 letters, digits, `_` and `-`; Google's models
 * also require a letter or `_` first.
 */
export const WORKFLOW_TOOL_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** The longest description of a workflow as a tool, in UTF-16 units: every turn of an agent sends it. */
export const MAX_TOOL_DESCRIPTION_LENGTH = 2_000;
