/** The `trigger_type` of a run that another one's failure started. Such a run starts no further one when it fails. */
export const FAILURE_HANDLER_TRIGGER = 'on_failure';
