/**
 * The `trigger_type` of a run that the failure of another run started. When it fails, its failure starts no further
 * run.
 */
export const FAILURE_HANDLER_TRIGGER = 'on_failure';
